"""Histogram of five numbers in [0, 1] over four equal bins, with two-sided geometric noise,
given out as a non-negative, normalised profile.  Neighbours differ in one entry, which
moves two counts by one each.  Epsilon = 1.2 (pure).
"""
import numpy as np

EPSILON = 1.2
BINS = 4


def _two_sided_geometric(alpha, shape, rng):
    u, v = rng.geometric(1.0 - alpha, size=(2, *shape))
    return u - v


def release(data, size, rng):
    cell = np.minimum((np.asarray(data) * BINS).astype(int), BINS - 1)
    counts = np.bincount(cell, minlength=BINS)
    noisy = counts[None, :] + _two_sided_geometric(np.exp(-EPSILON / 2.0), (size, BINS), rng)
    positive = np.clip(noisy, 0, None)
    total = positive.sum(axis=1, keepdims=True)
    return np.where(total > 0, positive / np.maximum(total, 1), 1.0 / BINS)
