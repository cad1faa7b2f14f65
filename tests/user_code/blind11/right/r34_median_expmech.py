"""Median on a grid by the exponential mechanism, drawn by inverting the cumulated weights.

For a grid point g let b = #{x < g}; its score is u(g) = -|b - n/2|.  Replacing an entry changes b by at most 1 at each grid point, so
u(g) changes by at most 1, and not always in the same direction on both sides of the median.  The point is drawn with probability
proportional to exp(eps u / 2): each weight and the total weight change by at most e^(eps/2) each, so the choice is eps-DP.
"""
from bisect import bisect_left
from itertools import accumulate
from math import exp

EPSILON = 1.5
GRID = [i / 10 for i in range(11)]


def weights(data):
    xs = sorted(float(x) for x in data)
    half = len(xs) / 2
    return [exp(-EPSILON * abs(bisect_left(xs, g) - half) / 2) for g in GRID]


def release_one(data, rng):
    ladder = list(accumulate(weights(data)))
    place = bisect_left(ladder, rng.random() * ladder[-1])
    return GRID[min(place, len(GRID) - 1)]


release_one.neighbours = [
    ([0.05, 0.05, 0.15, 0.15, 0.15, 0.15, 0.95, 0.95, 0.95], [0.95, 0.05, 0.15, 0.15, 0.15, 0.15, 0.95, 0.95, 0.95]),
    ([0.05, 0.05, 0.45, 0.45, 0.45, 0.95, 0.95, 0.95, 0.95], [0.95, 0.05, 0.45, 0.45, 0.45, 0.95, 0.95, 0.95, 0.95]),
]
