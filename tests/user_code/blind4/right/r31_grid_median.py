"""Median of a sample in [0,1], chosen on a fixed grid by the exponential mechanism."""
import numpy as np

EPSILON = 1.0
GRID = np.linspace(0.0, 1.0, 41)


def release(data, rng):
    x = np.sort(np.asarray(data, float))
    below = np.searchsorted(x, GRID, side="left")
    utility = -np.abs(below - len(x) / 2.0)
    w = np.exp(EPSILON * (utility - utility.max()) / 2.0)
    cum = np.cumsum(w)
    idx = np.searchsorted(cum, rng.random() * cum[-1], side="right")
    return float(GRID[min(idx, len(GRID) - 1)])
