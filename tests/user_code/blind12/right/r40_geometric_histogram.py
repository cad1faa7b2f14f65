"""Histogram of five values in four public bins with two-sided geometric noise.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
A replacement moves one unit from one bin to another (L1 sensitivity two), so each
count gets P(z) proportional to exp(-eps |z| / 2), drawn through the inverse CDF.
Negative counts are cut off afterwards, the total is not used.  Claim: epsilon = 1.
"""
import numpy as np
import pandas as pd

EPSILON = 1.0
EDGES = [-np.inf, 0.25, 0.5, 0.75, np.inf]
L1 = 2


def exact_counts(data):
    cells = pd.cut(pd.Series(np.asarray(data, float)), bins=EDGES, labels=False)
    return cells.value_counts().reindex(range(len(EDGES) - 1), fill_value=0).to_numpy()


def two_sided_geometric(shape, rng, eps=EPSILON / L1):
    """|z| from its own law, then a fair sign: P(0) = (1 - q) / (1 + q)."""
    q = np.exp(-eps)
    u = rng.random(shape)
    p0 = (1.0 - q) / (1.0 + q)
    # P(|z| >= m) = 2 q^m / (1 + q) for m >= 1
    tail = np.maximum(1.0 - u, 1e-300)
    magnitude = np.floor(np.log(tail * (1.0 + q) / 2.0) / np.log(q))
    magnitude = np.where(u < p0, 0, np.maximum(magnitude, 1))
    return (magnitude * np.where(rng.random(shape) < 0.5, 1, -1)).astype(int)


def release(data, size, rng):
    counts = exact_counts(data)
    noisy = counts[None, :] + two_sided_geometric((size, counts.size), rng)
    return np.maximum(noisy, 0)
