"""Median on a grid by the exponential mechanism (Gumbel form).

The score of a grid point x is -| #{d < x} - n/2 |.  Replacing one entry moves #{d < x} by at most 1 for each x, so each
score moves by at most 1, some up and some down.  Selecting with weights exp(EPSILON * score / 2) therefore changes a
weight by at most e^(EPSILON/2) and the normaliser by the same factor: EPSILON together.  argmax(log weight + Gumbel)
draws from exactly these weights.
"""
import numpy as np

EPSILON = 1.4
GRID = np.linspace(0.05, 0.95, 7)


def release_one(data, rng):
    data = np.asarray(data)
    below = (data[:, None] < GRID).sum(axis=0)
    score = -np.abs(below - len(data) / 2.0)
    return float(GRID[np.argmax(EPSILON * score / 2.0 + rng.gumbel(size=GRID.size))])


release_one.neighbours = [
    (np.array([0.0, 0.0, 0.0, 0.1, 0.1, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.1, 0.1, 1.0, 1.0])),
    (np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9]), np.array([1.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9])),
]
