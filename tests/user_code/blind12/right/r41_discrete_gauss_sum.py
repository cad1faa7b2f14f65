"""Sum of five values on a grid of 1/4 with the discrete Gaussian of Canonne, Kamath and
Steinke; epsilon = 1, delta = 1e-4.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
One draw per call.  Values are rounded to quarters, so the integer sum has
sensitivity four; sigma is the smallest (by bisection) for which the exact
hockey-stick divergence of every shift 1..4 is at most delta.
"""
import math

import numpy as np

EPS, DELTA, GRID = 1.0, 1e-4, 4


def divergence(sigma, shift):
    k = np.arange(-4000, 4001)
    p = np.exp(-k * k / (2.0 * sigma * sigma))
    p /= p.sum()
    q = np.exp(-((k - shift) ** 2) / (2.0 * sigma * sigma))
    q /= q.sum()
    return np.maximum(p - math.exp(EPS) * q, 0.0).sum()


def calibrate():
    lo, hi = 1.0, 100.0
    for _ in range(50):
        mid = 0.5 * (lo + hi)
        if max(divergence(mid, s) for s in range(1, GRID + 1)) <= DELTA:
            hi = mid
        else:
            lo = mid
    return hi + 1e-6


SIGMA = calibrate()


def discrete_gaussian(sigma, rng):
    """Rejection from a discrete Laplace with scale t = floor(sigma) + 1."""
    t = math.floor(sigma) + 1
    p = -math.expm1(-1.0 / t)
    while True:
        y = int(rng.geometric(p)) - int(rng.geometric(p))
        if rng.random() < math.exp(-((abs(y) - sigma ** 2 / t) ** 2) / (2 * sigma ** 2)):
            return y


def release_one(data, rng):
    ints = [int(round(GRID * min(1.0, max(0.0, float(x))))) for x in data]
    return (sum(ints) + discrete_gaussian(SIGMA, rng)) / GRID
