"""Noisy first and second moments of a vector.

data: five floats in [0, 1]; neighbours differ in one entry.  The sum and the sum
of squares are released together; an entry moves each of them by at most 1, so
the pair has L1 sensitivity 2 and gets Laplace(2 / epsilon) noise in both places.
The results are turned into a mean and a variance afterwards.
Claims epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0
L1_SENSITIVITY = 2.0


def laplace(scale, shape, rng):
    """Difference of two exponentials."""
    return scale * (rng.standard_exponential(shape) - rng.standard_exponential(shape))


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    n = len(x)
    moments = np.array([x.sum(), np.square(x).sum()])
    noisy = moments + laplace(L1_SENSITIVITY / EPSILON, (size, 2), rng)
    mean = noisy[:, 0] / n
    variance = noisy[:, 1] / n - mean ** 2
    return np.column_stack([mean, variance])
