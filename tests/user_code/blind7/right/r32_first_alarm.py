"""The first of several counts that passes a mark.

Right. AboveThreshold: threshold noise of scale 2 / EPSILON drawn once a run, query noise of scale 4 /
EPSILON drawn for each query. The queries count entries above rising cut points; a replaced entry changes
each by at most 1. The search stops at the first positive answer and tells its place only.
"""

import numpy as np

EPSILON = 1.0
CUTS = (0.1, 0.3, 0.5, 0.7, 0.9)
MARK = 5.0


def release_one(data, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    threshold = MARK + rng.laplace(0, 2 / EPSILON)
    queries = ((values <= cut).sum() for cut in CUTS)
    hits = (i for i, q in enumerate(queries) if q + rng.laplace(0, 4 / EPSILON) >= threshold)
    return next(hits, len(CUTS))


release_one.neighbours = [
    (np.zeros(6), np.r_[np.zeros(5), 1.0]),
    (np.linspace(0, 1, 15), np.r_[np.linspace(0, 1, 15)[:14], 0.0]),
]
