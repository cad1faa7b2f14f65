"""First and second moment of five numbers in [0, 1] with one Gaussian release.

The pair (sum x, sum x**2) changes by at most sqrt(2) in Euclidean length when
one entry is replaced.  release(data, size, rng) -> (size, 2): noisy mean and
noisy mean square; data is a vector of five floats in [0, 1].
Claim: epsilon = 1.0, delta = 1e-5 (exact Gaussian calibration).
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
DELTA = 1e-5


def delta_of(sigma, epsilon, sensitivity):
    mu = sensitivity / sigma
    return (stats.norm.sf(epsilon / mu - mu / 2.0)
            - np.exp(epsilon) * stats.norm.sf(epsilon / mu + mu / 2.0))


def calibrate(epsilon, delta, sensitivity):
    lo, hi = 1e-2, 1e3
    for _ in range(200):
        mid = np.sqrt(lo * hi)
        if delta_of(mid, epsilon, sensitivity) > delta:
            lo = mid
        else:
            hi = mid
    return hi


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    moments = np.array([x.sum(), np.square(x).sum()])
    sigma = calibrate(EPSILON, DELTA, np.sqrt(2.0))
    noise = stats.norm(scale=sigma).rvs(size=(size, 2), random_state=rng)
    return (moments + noise) / x.size
