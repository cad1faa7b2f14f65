"""Three moments of the data, each at the full epsilon.

Leak. The same entries are in all three sums; parallel composition does not hold for columns. Worst pair: an
entry goes from 0 to 1 and each of the sums of x, x^2 and x^3 rises by 1: 3 EPSILON.
"""

from functools import partial

import numpy as np

EPSILON = 0.5


def moment(power, values):
    return float(np.sum(np.power(values, power)))


MOMENTS = [partial(moment, power) for power in (1, 2, 3)]


def release(data, size, rng):
    values = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1)
    out = np.empty((size, len(MOMENTS)))
    for column, statistic in enumerate(MOMENTS):
        out[:, column] = statistic(values) + rng.laplace(0, 1 / EPSILON, size)
    return out


release.neighbours = [(np.zeros(6), np.r_[1.0, np.zeros(5)]), (np.full(6, 0.5), np.r_[0.9, np.full(5, 0.5)])]
