"""First two power sums with the analytic Gaussian mechanism.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  (sum x, sum x^2) has L2
sensitivity sqrt(2).  The release is turned into a mean and a nonnegative variance.
Claim: epsilon = 1.0, delta = 1e-5.
"""
from functools import cache

import numpy as np
from scipy.special import log_ndtr, ndtr

EPSILON, DELTA = 1.0, 1e-5


def profile(epsilon, ratio):
    """delta of the Gaussian mechanism with sensitivity / sigma = ratio."""
    return ndtr(ratio / 2 - epsilon / ratio) - np.exp(epsilon + log_ndtr(-ratio / 2 - epsilon / ratio))


@cache
def noise_std(sensitivity, epsilon, delta):
    lo, hi = 1e-3, 1e3                      # standard deviation per unit of sensitivity
    for _ in range(200):
        mid = (lo + hi) / 2
        if profile(epsilon, 1 / mid) > delta:
            lo = mid
        else:
            hi = mid
    return hi * sensitivity


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    std = noise_std(float(np.sqrt(2.0)), EPSILON, DELTA)
    sums = np.stack([x, x ** 2]).sum(axis=1)
    noisy = sums + std * rng.standard_normal((size, 2))
    mean = noisy[:, 0] / len(x)
    variance = np.maximum(noisy[:, 1] / len(x) - mean ** 2, 0.0)
    return np.column_stack([mean, variance])
