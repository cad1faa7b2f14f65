"""A count with discrete Gaussian noise, (0.8, 1e-3)-DP.

The statistic is the number of entries that are at least 1/2; replacing one entry moves it by -1, 0 or 1.  The noise has
P(j) proportional to exp(-j^2 / (2 s^2)) on the integers.  For a shift of 1 the smallest delta at eps is exactly
sum_j max(P(j) - e^eps P(j - 1), 0), the same for a shift of -1 by symmetry; s is the first multiple of 0.001 for which that sum
is at most delta.  Sampling is exact: a two-sided geometric proposal Y of scale t, accepted with probability
exp(-(|Y| - s^2/t)^2 / (2 s^2)) (Canonne, Kamath, Steinke).
"""
from itertools import count

import numpy as np

EPSILON = 0.8
DELTA = 1e-3


def spent_delta(s, eps=EPSILON, reach=120):
    j = np.arange(-reach, reach + 1)
    p = np.exp(-(j**2) / (2 * s * s))
    p /= p.sum()
    return np.maximum(p[1:] - np.exp(eps) * p[:-1], 0).sum()


SIGMA = next(m / 1000 for m in count(1500) if spent_delta(m / 1000) <= DELTA)


def discrete_gaussian(size, rng):
    t = int(SIGMA) + 1
    stop = -np.expm1(-1 / t)
    kept, have = [], 0
    while have < size:
        y = rng.geometric(stop, 2 * size + 16) - rng.geometric(stop, 2 * size + 16)
        chance = np.exp(-((np.abs(y) - SIGMA**2 / t) ** 2) / (2 * SIGMA**2))
        y = y[rng.random(y.size) < chance]
        kept.append(y)
        have += y.size
    return np.concatenate(kept)[:size]


def release(data, size, rng):
    votes = int(np.count_nonzero(np.asarray(data) >= 0.5))
    return votes + discrete_gaussian(size, rng)


release.neighbours = [
    (np.array([0.1, 0.9, 0.8, 0.2, 0.6, 0.4, 0.7, 0.3, 0.5, 0.0]), np.array([1.0, 0.9, 0.8, 0.2, 0.6, 0.4, 0.7, 0.3, 0.5, 0.0])),
]
