"""Explore round-robin, then commit to the largest noisy sum; all runs at once.

Fault: the noise has shape (n_runs, 1), one draw for all arms of a run; the argmax is that of the exact sums.
Pair: all rewards .5, with one explored reward of arm 1 equal to 1 against 0. Event: commit to arm 1.
Probability 1 against 0: infinite loss.
"""
import numpy as np

EPSILON = 0.6
EACH = 6


def play_many(rewards, n_runs, rng):
    horizon, arms = rewards.shape
    explore = min(horizon, EACH * arms)
    schedule = np.arange(explore) % arms
    sums = np.array([rewards[a:explore:arms, a].sum() for a in range(arms)])
    noisy = sums[None, :] + rng.laplace(scale=1 / EPSILON, size=(n_runs, 1))
    best = np.argmax(np.round(noisy, 9), axis=1)
    tail = np.repeat(best[:, None], horizon - explore, axis=1)
    return np.hstack([np.tile(schedule, (n_runs, 1)), tail])
