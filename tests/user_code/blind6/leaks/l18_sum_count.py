"""Sum and number of contributions."""
import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    x = np.asarray(data)
    total = x.sum() + rng.laplace(0, 1 / EPSILON, size)
    contributors = np.full(size, np.count_nonzero(x), dtype=float)
    return np.column_stack((total, contributors))
