"""First four raw moments of a sample with Gaussian noise, for a private skewness and kurtosis; claimed (1.0, 1e-3)-DP.

FAULT: SIGMA is the exact scale for one sum of sensitivity 1, and every one of the four sums gets it: an entry moved from 0 to 1
moves all four by 1, so the vector moves by 2 in Euclidean length.
Pair: ten entries with one equal to 0, against 1.  Event: the sum of the four released sums beyond a bound (half-space);
at 1.676 standard deviations: 0.0469 against 0.1843, so at eps = 1 delta is 0.0569, not 0.001.
At delta = 0.001 the true epsilon is 2.302 for a claim of 1.0 (exact formula for a Gaussian of shift 2 and this SIGMA).
"""
from collections import namedtuple
from math import exp

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.0
DELTA = 1e-3

Moments = namedtuple("Moments", "m1 m2 m3 m4")


def gaussian_delta(shift, sigma, eps):
    r = shift / sigma
    return norm.cdf(r / 2 - eps / r) - exp(eps) * norm.cdf(-r / 2 - eps / r)


SIGMA = brentq(lambda s: gaussian_delta(1.0, s, EPSILON) - DELTA, 0.3, 50.0)


def release_one(data, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    noisy = Moments(*((x**p).sum() + rng.normal(scale=SIGMA) for p in range(1, 5)))
    return np.array(noisy) / len(x)


_base = [0.2, 0.7, 0.5, 0.9, 0.4, 0.6, 0.3, 0.8, 0.5]
release_one.neighbours = [(np.array([0.0, *_base]), np.array([1.0, *_base]))]
