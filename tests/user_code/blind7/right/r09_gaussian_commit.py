"""Explore, then commit with the classical Gaussian mechanism, for many runs at once.

Right. The vector of sums of the exploration changes by at most 1 in one entry, so its L2 sensitivity is 1.
With eps <= 1 noise of standard deviation sqrt(2 ln(1.25 / delta)) / eps is (eps, delta)-private (Dwork and
Roth, theorem A.1). The sums are used once.
"""

import numpy as np

EPSILON, DELTA = 0.9, 0.01
SIGMA = np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    explore = (horizon // (2 * n_arms)) * n_arms
    schedule = np.arange(explore) % n_arms
    sums = np.bincount(schedule, weights=rewards[np.arange(explore), schedule], minlength=n_arms)
    noisy = sums + rng.normal(0, SIGMA, (n_runs, n_arms))
    out = np.empty((n_runs, horizon), dtype=int)
    out[:, :explore] = schedule
    out[:, explore:] = noisy.argmax(axis=1)[:, None]
    return out
