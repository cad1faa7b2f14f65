"""Sums of both halves."""
import numpy as np

EPSILON = 2.0


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    half = x.size // 2
    sums = np.array([x[:half].sum(), x[half:].sum()])
    noise = rng.laplace(0, 1 / EPSILON, (size, 1))
    return sums + noise
