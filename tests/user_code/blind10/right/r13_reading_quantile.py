"""Median of the reading depths of one article (share of the text that was scrolled through), on the continuum [0, 1].

Privacy (unit: one entry replaced): the score of a point o is -|#{x < o} - n/2|.  Replacing an entry changes the count by
at most 1, hence every score by at most 1, in either direction.  The point is drawn with density proportional to
exp(EPSILON score / 2): numerator and normaliser each change by at most e^(EPSILON/2), together e^EPSILON.
The score is constant between sorted entries, so a gap is drawn with weight length * exp(EPSILON score / 2), then a
uniform point in it; empty gaps have weight zero.
"""
from itertools import accumulate

import numpy as np

EPSILON = 1.5


def release_one(data, rng):
    x = np.sort(np.asarray(data, dtype=float))
    edges = np.concatenate(([0.0], x, [1.0]))
    below = np.arange(len(x) + 1)
    weights = np.diff(edges) * np.exp(-EPSILON / 2 * np.abs(below - len(x) / 2))
    ladder = list(accumulate(weights))
    gap = int(np.searchsorted(ladder, rng.random() * ladder[-1], side="right"))
    gap = min(gap, len(x))
    return float(rng.uniform(edges[gap], edges[gap + 1]))


release_one.neighbours = [
    (np.array([0.0, 0.02, 0.03, 0.05, 0.8, 0.92, 0.95, 0.97]), np.array([1.0, 0.02, 0.03, 0.05, 0.8, 0.92, 0.95, 0.97])),
    (np.array([0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9]), np.array([0.1, 0.2, 0.95, 0.5, 0.6, 0.7, 0.8, 0.9])),
]
