"""Noisy first and second moment of five numbers, with the variance that follows from them.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The vector (sum x, sum x^2) has L2 sensitivity sqrt(2); both sums get Gaussian noise from
the analytic Gaussian mechanism.  Mean, second moment and variance are post-processing.
Claim: (epsilon, delta)-DP with epsilon = 0.8, delta = 1e-5.
"""
from functools import lru_cache

import numpy as np
from scipy import optimize, stats

EPSILON, DELTA = 0.8, 1e-5
SENSITIVITY = np.sqrt(2.0)


@lru_cache(maxsize=None)
def noise_std(eps, delta, sens):
    def gap(log_s):
        s = np.exp(log_s)
        u, v = sens / (2 * s), eps * s / sens
        return stats.norm.cdf(u - v) - np.exp(eps + stats.norm.logcdf(-u - v)) - delta

    return float(np.exp(optimize.bisect(gap, np.log(0.05), np.log(500.0), xtol=1e-12))) * (1 + 1e-7)


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    moments = np.array([x.sum(), (x ** 2).sum()])
    noisy = (moments + rng.normal(0.0, noise_std(EPSILON, DELTA, SENSITIVITY), (size, 2))) / x.size
    variance = np.maximum(noisy[:, 1] - noisy[:, 0] ** 2, 0.0)
    return np.column_stack([noisy, variance])
