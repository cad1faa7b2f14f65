"""The mean of a vector of numbers in [0, 1], one of which may change.

Privacy. The mean of n numbers moves by at most 1 / n, and the Laplace noise has scale 1 / (n eps): exactly eps-DP.
"""

import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    x = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0.0, 1.0)
    return x.mean() + rng.laplace(0.0, 1.0 / (EPSILON * len(x)), size)


release.neighbours = [
    (np.array([0.0, 0.0, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0, 0.0])),
    (np.array([1.0, 1.0, 0.0, 0.5, 0.0]), np.array([1.0, 1.0, 0.0, 0.5, 1.0])),
]
