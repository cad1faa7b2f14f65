"""Sum of a secret random subsample, with amplification by subsampling.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
Two of the five entries are drawn without replacement and their sum gets Laplace noise at
eps0 = log(1 + (5/2)(e^epsilon - 1)); which entries were drawn is never published.
Claim: pure epsilon-DP, epsilon = 1.0.  The answer is rounded to multiples of 1/64.
"""
import numpy as np

EPSILON = 1.0
DRAWN = 2


def inner_epsilon(eps, n, m):
    return np.log1p(np.expm1(eps) * n / m)


def release(data, size, rng):
    data = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    n = data.size
    order = np.argsort(rng.random((size, n)), axis=1)[:, :DRAWN]
    sums = data[order].sum(axis=1)
    noisy = sums + rng.laplace(0.0, 1.0 / inner_epsilon(EPSILON, n, DRAWN), size)
    return np.round(noisy * 64.0)[:, None] / 64.0
