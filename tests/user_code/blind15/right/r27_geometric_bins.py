"""Histogram of five floats in [0, 1] on four fixed bins with two-sided geometric noise.

Claims epsilon = 1.5, pure. Replacing one entry takes one from a bin and adds one to another (L1 distance 2),
so the noise has P(k) proportional to exp(-epsilon |k| / 2). Negative counts are cut at zero afterwards.
"""
import numpy as np

EPSILON = 1.5
EDGES = np.array([0.25, 0.5, 0.75])


def two_sided_geometric(shape, alpha, rng):
    return rng.geometric(1 - alpha, shape) - rng.geometric(1 - alpha, shape)


def release(data, size, rng):
    bins = np.searchsorted(EDGES, np.asarray(data, float), side="right")
    counts = np.bincount(bins, minlength=4)
    noise = two_sided_geometric((size, 4), np.exp(-EPSILON / 2), rng)
    return np.maximum(counts + noise, 0)
