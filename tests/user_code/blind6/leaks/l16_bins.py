"""Counts in four equal bins."""
import numpy as np

EPSILON = 1.0
BINS = 4


def release(data, size, rng):
    idx = np.clip((np.asarray(data) * BINS).astype(int), 0, BINS - 1)
    counts = np.zeros(BINS)
    np.add.at(counts, idx, 1)
    return np.stack([c + rng.laplace(0, 1 / EPSILON, size) for c in counts], axis=1)
