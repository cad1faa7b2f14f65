"""Sum with Laplace noise from an integer-only uniform source (embedded devices).

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  The noise is made by
inverse transform from a 10-bit uniform and a sign bit; the release is rounded to halves, so
that the grid of the noise does not show.  Claim: epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0
BITS = 10


def device_uniform(rng, size):
    """(k + 1) / 2^BITS for a uniform k, never zero."""
    return (rng.integers(0, 1 << BITS, size=size) + 1) / float(1 << BITS)


def device_laplace(rng, size, scale):
    sign = 2 * rng.integers(0, 2, size=size) - 1
    return -scale * sign * np.log(device_uniform(rng, size))


def release(data, size, rng):
    total = float(np.sum(data))
    noisy = total + device_laplace(rng, size, 1.0 / EPSILON)
    return np.round(noisy * 2.0) / 2.0
