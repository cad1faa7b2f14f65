"""Running totals with the analytic Gaussian mechanism.

data: five floats in [0, 1] in order of time; neighbours differ in one entry.  All
running totals are released with independent Gaussian noise.  One entry moves a total
by at most 1, so the sensitivity is 1; the noise is the smallest that gives
(epsilon, delta) = (1.0, 1e-3), which is the claim.
"""
import numpy as np
from scipy.optimize import bisect
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-3


def delta_of(sigma, epsilon, sensitivity):
    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


SIGMA = bisect(lambda s: delta_of(s, EPSILON, 1.0) - DELTA, 0.1, 100.0)


def release(data, size, rng):
    totals = np.cumsum(np.clip(np.asarray(data, dtype=float), 0.0, 1.0))
    return totals + SIGMA * rng.standard_normal((size, totals.size))
