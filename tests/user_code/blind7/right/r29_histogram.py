"""A histogram with four bins, one entry replaced.

Right. Replacing an entry takes one from a bin and adds one to another: L1 sensitivity 2, so every bin gets
Laplace noise of scale 2 / EPSILON. The edges of the bins are constants.
"""

import numpy as np

EPSILON = 1.0
EDGES = np.array([0.25, 0.5, 0.75])


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    counts = np.bincount(np.searchsorted(EDGES, values, side="right"), minlength=4)
    return counts + rng.laplace(0, 2 / EPSILON, (size, 4))


release.neighbours = [
    (np.linspace(0, 1, 12), np.r_[1.0, np.linspace(0, 1, 12)[1:]]),
    (np.zeros(8), np.r_[np.zeros(7), 1.0]),
]
