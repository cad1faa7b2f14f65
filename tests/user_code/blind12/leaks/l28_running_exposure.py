"""Running exposure over five days with Gaussian noise.

data: five floats in [0, 1].  The release is the vector of five running totals; each running total has sensitivity 1, so each
gets Gaussian noise with the sigma of the analytic Gaussian mechanism for sensitivity 1.
Claim: (1.0, 1e-5)-DP.
"""
import math

import numpy as np
from scipy.special import ndtr

EPSILON, DELTA = 1.0, 1e-5


def gaussian_delta(sigma, epsilon, sensitivity):
    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return ndtr(a - b) - math.exp(epsilon) * ndtr(-a - b)


def calibrate(epsilon, delta, sensitivity=1.0):
    lo, hi = 0.01, 100.0
    for _ in range(80):
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if gaussian_delta(mid, epsilon, sensitivity) > delta else (lo, mid)
    return hi


SIGMA = calibrate(EPSILON, DELTA)


def release(data, size, rng):
    running = np.cumsum(np.clip(data, 0.0, 1.0))
    return running + rng.normal(0.0, SIGMA, size=(size, running.size))
