"""Median on a grid of eleven points."""
import numpy as np

EPSILON = 2.0


def utilities(data, grid):
    ranks = (np.asarray(data)[None, :] <= grid[:, None]).sum(axis=1)
    return -np.abs(ranks - len(data) / 2)


def release(data, size, rng):
    grid = np.linspace(0, 1, 11)
    u = utilities(data, grid)
    w = np.exp(EPSILON * (u - u.max()) / 2)
    return rng.choice(grid, size=size, p=w / w.sum())
