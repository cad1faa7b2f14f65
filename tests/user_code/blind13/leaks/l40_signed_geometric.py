"""Noisy count of large values.

Claim: epsilon = 1 (pure).  data: five floats in [0, 1], neighbours differ in one entry.
The number of entries of at least one half, plus two-sided geometric noise with ratio e^-eps: a random sign and a
geometric magnitude 0, 1, 2, ...
"""
import numpy as np

EPSILON = 1.0


class TwoSidedGeometric:
    def __init__(self, epsilon, sensitivity=1):
        self.log_ratio = -epsilon / sensitivity

    def rvs(self, size, rng):
        magnitude = np.floor(np.log1p(-rng.random(size)) / self.log_ratio).astype(int)
        sign = 2 * rng.integers(0, 2, size) - 1
        return sign * magnitude


def release(data, size, rng):
    count = int(np.count_nonzero(np.asarray(data) >= 0.5))
    return count + TwoSidedGeometric(EPSILON).rvs(size, rng)
