"""Noisy mean and noisy variance.

data: five floats in [0, 1]; neighbours differ in one entry.  Half of epsilon goes to
the mean, with sensitivity 1/n, and half to the variance, with sensitivity 1/n^2
(a squared deviation moves by at most the square of what the mean moves).
Claims epsilon = 1.0 (pure).
"""
import numpy as np
from scipy import stats

EPSILON = 1.0


def laplace_mechanism(value, sensitivity, epsilon, size, rng):
    noise = stats.laplace(scale=sensitivity / epsilon)
    return value + noise.rvs(size=size, random_state=rng)


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0, 1)
    n = x.size
    mean = laplace_mechanism(x.mean(), 1.0 / n, EPSILON / 2, size, rng)
    var = laplace_mechanism(x.var(), 1.0 / n ** 2, EPSILON / 2, size, rng)
    return np.c_[mean, np.maximum(var, 0.0)]
