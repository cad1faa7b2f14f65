"""Private median on a grid by the exponential mechanism.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
The score of a grid point x is -|#{d <= x} - n/2|, which moves by at most 1 when one
entry is replaced, hence weights exp(epsilon * score / 2).
Claim: pure epsilon-DP, epsilon = 1.5.  release(data, size, rng) -> (size, 1).
"""
import numpy as np

EPSILON = 1.5
GRID = np.arange(1, 20, 2) / 20.0


def scores(data):
    below = np.searchsorted(np.sort(np.asarray(data, dtype=float)), GRID, side="right")
    return -np.abs(below - 0.5 * len(data))


def release(data, size, rng):
    weights = np.exp(0.5 * EPSILON * scores(data))
    picks = rng.choice(len(GRID), size=size, p=weights / weights.sum())
    return GRID[picks][:, None]
