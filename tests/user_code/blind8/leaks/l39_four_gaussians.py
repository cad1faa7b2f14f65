"""Four summaries with Gaussian noise; claims (EPSILON, DELTA) = (0.8, 1e-3).

FAULT: SIGMA is the exact (Balle-Wang) value for one sum with sensitivity 1, but four sums (x, x^2, x^3, x >= 1/2) are
released, and an entry replaced from 0 to 1 moves all of them by 1: L2 distance 2.
Pair: entry 0 against 1.  Event: the sum of the four coordinates, N(m, 4 SIGMA^2) against N(m + 4, 4 SIGMA^2) with
SIGMA = 3.105, exceeds m + 6 SIGMA: p = 0.00135, p' = 0.00924, log((p' - DELTA) / p) = 1.81 (claim 0.8); exact: 1.83.
"""
import math

import numpy as np
from scipy import optimize, stats

EPSILON = 0.8
DELTA = 1e-3


def sigma_for(eps, delta):
    def gap(log_s):
        s = math.exp(log_s)
        return stats.norm.cdf(0.5 / s - eps * s) - math.exp(eps) * stats.norm.cdf(-0.5 / s - eps * s) - delta
    return math.exp(optimize.brentq(gap, -2.0, 4.0))


SIGMA = sigma_for(EPSILON, DELTA)


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    summary = np.array([x.sum(), (x**2).sum(), (x**3).sum(), np.count_nonzero(x >= 0.5)])
    return rng.normal(summary, SIGMA, size=(size, 4))


release.neighbours = [(np.array([0.0, 0.4, 0.6, 0.9, 0.2]), np.array([1.0, 0.4, 0.6, 0.9, 0.2]))]
