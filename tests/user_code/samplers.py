"""Mechanisms that differ from ideal ones in the last bits only, or do not differ from them at all.

Each has sensitivity 1 and, as real numbers, epsilon 1.
"""

import math

import numpy as np


def laplace(data, size, rng):
    """Not right as floats: the sum of two doubles carries the data in its last bits."""
    return data + rng.laplace(0, 1, size)


def entries(data, size, rng):
    """As `laplace`, for each entry of a vector."""
    return data + rng.laplace(0, 1, (size, len(data)))


def total(data, size, rng):
    """As `laplace`, for the sum of a vector."""
    return data.sum() + rng.laplace(0, 1, size)


def single(data, size, rng):
    """Noise in single precision."""
    return data + rng.laplace(0, 1, size).astype(np.float32)


def exponentials(data, size, rng):
    """Laplace noise as a difference of two exponential draws."""
    return data + rng.exponential(1, size) - rng.exponential(1, size)


def normal(data, size, rng):
    """Gaussian noise: (1, 1e-4) as real numbers."""
    return data + rng.normal(0, 4, size)


def coarse(data, size, rng):
    """Right but for the rounding of what lies between two steps: multiples of 2^-10, whatever the data."""
    return np.round((data + rng.laplace(0, 1, size)) * 2**10) / 2**10


def geometric(data, size, rng):
    """Right: whole numbers."""
    p = -math.expm1(-1.0)
    return data + rng.geometric(p, size) - rng.geometric(p, size)


def grid(data, size, rng):
    """Right: two-sided geometric noise in steps of 2^-20, on data in such steps."""
    p = -math.expm1(-(2.0**-20))
    return (np.round(data * 2**20) + rng.geometric(p, size) - rng.geometric(p, size)) / 2**20
