"""Latency histogram for a status page.

release(data, size, rng): data is a vector of five floats in [0, 1] (normalised latencies), neighbours
differ in one entry.  Four equal buckets; each count gets two-sided geometric noise with ratio
exp(-epsilon/2), because moving one request from one bucket to another changes two counts by one.
Returns whole numbers of shape (size, 4).  Claims epsilon = 1.0.
"""
import numpy as np

EPSILON = 1.0
BUCKETS = 4


def bucket_counts(data):
    position = np.minimum((np.clip(data, 0.0, 1.0) * BUCKETS).astype(int), BUCKETS - 1)
    return np.bincount(position, minlength=BUCKETS)


def two_sided_geometric(ratio, shape, rng):
    """P(k) proportional to ratio^|k|: difference of two geometric variables."""
    return rng.geometric(1.0 - ratio, size=shape) - rng.geometric(1.0 - ratio, size=shape)


def release(data, size, rng):
    counts = bucket_counts(np.asarray(data, dtype=float))
    noise = two_sided_geometric(np.exp(-EPSILON / 2.0), (size, BUCKETS), rng)
    return counts[None, :] + noise
