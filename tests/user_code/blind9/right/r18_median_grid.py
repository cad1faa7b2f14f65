"""Median reading time on a grid by the exponential mechanism.
Proof: u(g) = -|#{x <= g} - n/2|; replacing an entry moves each count by at most 1, so u by at most
1 in either direction; weights exp(EPSILON*u/2) give EPSILON-DP."""
import numpy as np
EPSILON = 1.0
GRID = np.linspace(0.05, 0.95, 10)


def release(data, size, rng):
    below = (np.asarray(data)[:, None] <= GRID).sum(axis=0)
    w = np.exp(-0.5 * EPSILON * np.abs(below - len(data) / 2))
    return rng.choice(GRID, size=size, p=w / w.sum())


release.neighbours = [(np.array([0.2] * 5 + [0.8] * 4), np.array([0.2] * 4 + [0.8] * 5))]
