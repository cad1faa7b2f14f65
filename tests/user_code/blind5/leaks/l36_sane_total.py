"""Noisy total that is always a possible total."""
import numpy as np

EPSILON = 0.5
SENSITIVITY = 1.0


def perturb(total, count, rng):
    return total + rng.laplace(0.0, SENSITIVITY / EPSILON, count)


def release(data, size, rng):
    total, n = float(np.sum(data)), len(data)
    result = perturb(total, size, rng)
    while True:
        bad = (result < 0) | (result > n)
        if not bad.any():
            return result
        result[bad] = perturb(total, np.count_nonzero(bad), rng)
