"""Mean in fixed point with two-sided geometric noise on the integer total."""
import numpy as np

EPSILON = 1.0
UNITS = 50


def two_sided_geometric(alpha, size, rng):
    return rng.geometric(1.0 - alpha, size) - rng.geometric(1.0 - alpha, size)


def in_units(data):
    return np.rint(np.clip(data, 0.0, 1.0) * UNITS).astype(np.int64)


def release(data, size, rng):
    total = int(in_units(data).sum())
    alpha = np.exp(-EPSILON / UNITS)
    noisy = total + two_sided_geometric(alpha, size, rng)
    return noisy / (UNITS * len(data))
