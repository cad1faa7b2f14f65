"""A median from the exponential mechanism over a fixed grid.

Right. The score of a candidate is minus the distance of its rank from n / 2. Replacing an entry moves a
rank by at most 1, in either direction, so the factor is EPSILON / 2. Draws are made by cumulative sums and
searchsorted.
"""

import numpy as np

EPSILON = 1.0
GRID = np.linspace(0, 1, 11)


def release(data, size, rng):
    values = np.sort(np.atleast_1d(np.asarray(data, dtype=float)))
    ranks = np.searchsorted(values, GRID, side="left")
    scores = -np.abs(ranks - len(values) / 2)
    weights = np.cumsum(np.exp(EPSILON / 2 * (scores - scores.max())))
    picks = np.searchsorted(weights, rng.random(size) * weights[-1], side="right")
    return GRID[np.minimum(picks, len(GRID) - 1)]


release.neighbours = [
    (np.r_[0.0, np.full(5, 0.5), np.ones(4)], np.r_[1.0, np.full(5, 0.5), np.ones(4)]),
    (np.linspace(0, 1, 9), np.r_[np.linspace(0, 1, 9)[:8], 0.0]),
]
