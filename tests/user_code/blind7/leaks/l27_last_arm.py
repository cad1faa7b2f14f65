"""Noisy sums for many runs at once, with a slice that leaves out the last arm.

Leak. The sum of the fourth arm has no noise. It wins if all three noises are below its lead: if it is
behind all the others, an extra reward changes three tails at once. Worst pair: the others earned 1 each,
the last one 0 or 1: P = (e^-1 / 2)^3 against (1 / 2)^3, a ratio of e^3 for 1 claimed.
"""

import numpy as np

EPSILON = 1.0


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    schedule = np.arange(explore) % n_arms
    sums = np.zeros((n_runs, n_arms))
    for t, arm in enumerate(schedule):
        sums[:, arm] += rewards[t, arm]
    sums[:, :-1] += rng.laplace(0, 1 / EPSILON, (n_runs, n_arms - 1))
    best = sums[:, ::-1].argmax(axis=1)
    actions = np.empty((n_runs, horizon), dtype=int)
    actions[:, :explore] = schedule
    actions[:, explore:] = (n_arms - 1 - best)[:, None]
    return actions
