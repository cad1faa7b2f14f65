"""Thompson sampling for an A/B test; each visitor's browser sends a randomised bit.

Claim: pure epsilon = 1.2 for one changed reward.
Proof.  A reward r is used once, to draw a bit with P(1) = low + r * (high - low), where
low = 1/(1+e^eps) and high = e^eps/(1+e^eps).  Both P(1) and P(0) lie in [low, high], whose ratio is e^eps,
so for any two rewards each bit has probabilities within the factor e^eps.  The posterior and all later
actions are computed from bits, own random draws and past actions only.
"""
import numpy as np

EPSILON = 1.2
ARMS = 2
HORIZON = 40


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    high = np.exp(EPSILON) / (1.0 + np.exp(EPSILON))
    low = 1.0 - high
    ones = np.ones((n_runs, n_arms))
    zeros = np.ones((n_runs, n_arms))
    rows = np.arange(n_runs)
    out = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        guess = rng.beta(ones, zeros)
        arm = guess.argmax(axis=1)
        out[:, t] = arm
        seen = rewards[t, arm]
        bit = rng.random(n_runs) < low + seen * (high - low)
        ones[rows, arm] += bit
        zeros[rows, arm] += ~bit
    return out
