"""Noisy histogram of the data over eight equal bins."""
import numpy as np

EPSILON = 1.0
EDGES = np.linspace(0.0, 1.0, 9)
# a replaced value leaves one bin and enters another
L1_SENSITIVITY = 2.0


def histogram(data):
    counts, _ = np.histogram(np.clip(data, 0.0, 1.0), bins=EDGES)
    return counts.astype(float)


def laplace_mechanism(value, size, rng):
    scale = L1_SENSITIVITY / EPSILON
    return value + rng.laplace(0.0, scale, (size,) + value.shape)


def release(data, size, rng):
    return laplace_mechanism(histogram(data), size, rng)
