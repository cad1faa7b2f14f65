"""Private median on a grid, sampled from an alias table.

Claim: epsilon = 1 (pure).  data: five floats in [0, 1], neighbours differ in one entry.
Exponential mechanism over 0, 0.05, ..., 1 with utility -|#{x <= g} - 3| (sensitivity 1) and weight exp(eps u / 2).
"""
from collections import deque

import numpy as np

EPSILON = 1.0
GRID = np.linspace(0.0, 1.0, 21)


def alias_table(weights):
    """Vose's construction: (cut, other) so that cell i gives i with probability cut[i], else other[i]."""
    n = len(weights)
    scaled = [float(w) for w in weights * n / weights.sum()]
    cut, other = np.ones(n), np.arange(n)
    small = deque(i for i in range(n) if scaled[i] < 1.0)
    large = deque(i for i in range(n) if scaled[i] >= 1.0)
    while small and large:
        s, g = small.popleft(), large.popleft()
        cut[s], other[s] = scaled[s], g
        scaled[g] -= 1.0 - scaled[s]
        (small if scaled[g] < 1.0 else large).append(g)
    return cut, other


def utility(data):
    at_most = (np.asarray(data, float)[:, None] <= GRID[None, :]).sum(axis=0)
    return -np.abs(at_most - 3.0)


def release(data, size, rng):
    cut, other = alias_table(np.exp(0.5 * EPSILON * utility(data)))
    cell = rng.integers(len(GRID), size=size)
    pick = np.where(rng.random(size) < cut[cell], cell, other[cell])
    return GRID[pick]
