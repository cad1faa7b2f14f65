"""All prefix sums of a vector of five floats in [0, 1], matrix mechanism.

The prefix matrix A equals R @ R with R the Toeplitz square root; Gaussian noise
is put on R x and multiplied by R.  Sensitivity is the largest column norm of R.
Claim: epsilon = 1.0, delta = 1e-5 (neighbours differ in one entry).
"""
from functools import lru_cache
import numpy as np
from scipy.linalg import toeplitz
from scipy.optimize import brentq
from scipy.special import binom
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-5


@lru_cache(maxsize=None)
def square_root(n):
    k = np.arange(n)
    column = binom(2 * k, k) / 4.0 ** k
    return toeplitz(column, np.zeros(n))


def privacy_delta(mu):
    return norm.cdf(mu / 2 - EPSILON / mu) - np.exp(EPSILON) * norm.cdf(-mu / 2 - EPSILON / mu)


@lru_cache(maxsize=None)
def noise_multiplier():
    mu = brentq(lambda m: privacy_delta(m) - DELTA, 1e-3, 10.0, xtol=1e-12)
    return 1.000001 / mu


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    root = square_root(x.size)
    sensitivity = np.linalg.norm(root, axis=0).max()
    sigma = sensitivity * noise_multiplier()
    noisy = root @ x + sigma * rng.standard_normal((size, x.size))
    return noisy @ root.T
