"""The fullest of five bins."""
import numpy as np

EPSILON = 2.0
BINS = 5


def release(data, size, rng):
    which = np.minimum((np.asarray(data) * BINS).astype(int), BINS - 1)
    counts = np.bincount(which, minlength=BINS)
    noisy = counts + rng.exponential(2.0 / EPSILON, (size, BINS))
    return noisy.argmax(axis=1)
