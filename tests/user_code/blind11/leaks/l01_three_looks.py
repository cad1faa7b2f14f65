"""A/B test of a new page against a known click rate of one half, with three looks.

Claim: pure epsilon = 1 for one changed reward.
Fault: the budget is divided by the two interim looks only; the final look at the same running sum is spent
on top of it, so an early reward is used three times at epsilon/2.
Pair: page 1 has sum 2 or 3 in its first six test visits (one reward 0 or 1) and 3 in each later test block.
Event: page 1 is shown after each look.  Probability (exp(-1/2)/2)^3 = .0279 against (1/2)^3 = .125:
loss exactly 1.5, i.e. 1.5 times the claim.
"""
import numpy as np

EPSILON = 1.0
ARMS = 2
HORIZON = 36
INTERIM_LOOKS = 2
TEST_VISITS = 6
RUN_VISITS = 6
KNOWN_RATE = 0.5


def play(rewards, rng):
    horizon = rewards.shape[0]
    actions = np.zeros(horizon, dtype=int)
    eps_look = EPSILON / INTERIM_LOOKS
    clicks = 0.0
    tested = 0
    t = 0
    while t < horizon:
        for _ in range(min(TEST_VISITS, horizon - t)):
            actions[t] = 1
            clicks += float(rewards[t, 1])
            tested += 1
            t += 1
        noisy = clicks + rng.laplace(0.0, 1.0 / eps_look)
        leader = 1 if noisy >= KNOWN_RATE * tested else 0
        for _ in range(min(RUN_VISITS, horizon - t)):
            actions[t] = leader
            t += 1
    return actions
