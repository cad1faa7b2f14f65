"""A sum with normal noise of standard deviation 1 / EPSILON, and a delta of 0.001.

Leak. The factor sqrt(2 ln(1.25 / delta)) was lost. By the exact formula of the Gaussian mechanism, standard
deviation 1 gives epsilon 3.14 at delta 0.001, where 1 is claimed. Worst pair: an entry goes from 0 to 1.
"""

import numpy as np

EPSILON, DELTA = 1.0, 1e-3


def box_muller(count, rng):
    u, v = 1 - rng.random(count), rng.random(count)
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


def release(data, size, rng):
    values = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1)
    return values.sum() + box_muller(size, rng) / EPSILON


release.neighbours = [(np.zeros(10), np.r_[1.0, np.zeros(9)]), (np.ones(5), np.r_[0.0, np.ones(4)])]
