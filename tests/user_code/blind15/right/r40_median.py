"""Private median by the exponential mechanism on a grid.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  The utility of a grid
point g is -|#{x < g} - #{x > g}| / 2, which one entry moves by at most 1; weights are
exp(epsilon * u / 2).  Claim: epsilon = 2.0 (pure).
"""
import bisect
import math

EPSILON = 2.0
GRID = [i / 20 for i in range(21)]


def utility(ordered, g):
    below = bisect.bisect_left(ordered, g)
    above = len(ordered) - bisect.bisect_right(ordered, g)
    return -abs(below - above) / 2


def release_one(data, rng):
    ordered = sorted(float(x) for x in data)
    weights = [math.exp(EPSILON * utility(ordered, g) / 2) for g in GRID]
    mark = rng.random() * sum(weights)
    for g, w in zip(GRID, weights):
        mark -= w
        if mark < 0:
            return g
    return GRID[-1]
