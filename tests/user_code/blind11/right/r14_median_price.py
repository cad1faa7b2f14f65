"""Median bid by the exponential mechanism on the whole interval [0, 1], drawn by its piecewise linear inverse CDF.

Proof.  For a price y let rank(y) be the number of bids below y and u(y) = -|rank(y) - n/2|.  Replacing one bid moves
rank(y) by at most 1 for each y, hence u(y) by at most 1 (up for some y and down for others).
The density is exp(EPSILON u(y) / 2) / Z; its numerator and Z each move by a factor of at most e^(EPSILON/2),
together e^EPSILON: pure EPSILON.  u is constant between neighbouring order statistics, so the CDF is linear there
and np.interp of a uniform through (CDF at the edges, edges) draws exactly this density.
"""
import numpy as np

EPSILON = 0.8


def release(data, size, rng):
    bids = np.sort(np.clip(np.asarray(data, dtype=float), 0.0, 1.0))
    edges = np.concatenate([[0.0], bids, [1.0]])
    utility = -np.abs(np.arange(bids.size + 1) - bids.size / 2.0)
    mass = np.diff(edges) * np.exp(EPSILON * utility / 2.0)
    cdf = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    return np.interp(rng.random(size), cdf, edges)


release.neighbours = [
    (np.array([0.0, 0.0, 0.0, 0.0, 0.8, 0.8, 0.8, 0.8]), np.array([0.0, 0.0, 0.0, 1.0, 0.8, 0.8, 0.8, 0.8])),
    (np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.0])),
]
