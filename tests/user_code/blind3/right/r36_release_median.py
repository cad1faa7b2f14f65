"""A median among eleven candidates. The score of c is -|#{x < c} - n/2|; replacing one x moves every score by at most 1, so
weights exp(epsilon score / 2)."""

import math

import numpy as np

GRID = [i / 10 for i in range(11)]


def release_one(data, rng, epsilon=1.0):
    x = np.asarray(data)
    scores = [-abs(int((x < c).sum()) - len(x) / 2) for c in GRID]
    weights = [math.exp(epsilon * s / 2) for s in scores]
    u = rng.random() * sum(weights)
    for c, w in zip(GRID, weights):
        u -= w
        if u < 0:
            return c
    return GRID[-1]


release_one.neighbours = [
    (np.linspace(0, 1, 9), np.r_[1.0, np.linspace(0, 1, 9)[1:]]),
    (np.array([0.0] * 4 + [1.0] * 5), np.array([0.0] * 5 + [1.0] * 4)),
]
