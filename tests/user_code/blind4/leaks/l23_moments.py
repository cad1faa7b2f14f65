"""Noisy first and second moments of a bounded sample."""
import numpy as np

EPSILON = 0.5


def noisy_mean(x, rng, eps=EPSILON):
    return float(np.mean(np.clip(x, 0, 1)) + rng.laplace(0, 1 / (len(x) * eps)))


def release(data, rng):
    data = np.asarray(data, float)
    m1 = noisy_mean(data, rng)
    m2 = noisy_mean(data ** 2, rng)
    return m1, m2
