"""Median on a public grid by the exponential mechanism with weights exp(EPSILON u(g)), u(g) = -|#{x < g} - n/2|.

Fault: the factor 2 is missing.  Replacing an entry moves some scores up and others down, so both the weight and the
normaliser move by up to e^EPSILON, in opposite directions.  Pair: four entries 0.2, three entries 1, and one entry 0 or
1; event: the answer is 1/6.  Scores on the grid 0, 1/6, ..., 1 are (-4, -3, -1, -1, -1, -1, -1) and
(-4, -4, 0, 0, 0, 0, 0); at EPSILON = 1 the chances are 0.02612 and 0.00364 and the loss is 1.97 = 1.97 EPSILON.
"""
import random

import numpy as np

EPSILON = 1.0
GRID = [k / 6 for k in range(7)]


def utility(data, g):
    return -abs(int((data < g).sum()) - len(data) / 2)


def release_one(data, rng):
    data = np.asarray(data)
    weights = [np.exp(EPSILON * utility(data, g)) for g in GRID]
    local = random.Random(int(rng.integers(2**63)))
    return local.choices(GRID, weights=weights)[0]


_BASE = [0.2, 0.2, 0.2, 0.2, 1.0, 1.0, 1.0]
release_one.neighbours = [
    (np.array(_BASE + [0.0]), np.array(_BASE + [1.0])),
    (np.array([0.0, 0.4, 0.4, 0.4, 0.7, 0.7, 0.9, 1.0]), np.array([0.0, 0.4, 0.4, 0.4, 0.7, 0.7, 0.9, 0.1])),
]
