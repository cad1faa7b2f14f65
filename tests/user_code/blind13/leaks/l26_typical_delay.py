"""Typical delivery delay: noisy median of five depots.

release_one(data, rng): data is a vector of five floats in [0, 1], neighbours differ in one entry.
The median moves at most to the next order statistic when one depot changes, so Laplace noise is scaled
to that gap over epsilon, with a floor for degenerate days.  Claims epsilon = 1.0.
"""
import statistics

EPSILON = 1.0
FLOOR = 0.02


def median_gap(values):
    ordered = sorted(values)
    mid = len(ordered) // 2
    below, here, above = ordered[mid - 1:mid + 2]
    return max(here - below, above - here)


def release_one(data, rng):
    values = [min(1.0, max(0.0, float(x))) for x in data]
    scale = max(FLOOR, median_gap(values)) / EPSILON
    return statistics.median(values) + float(rng.laplace(0.0, scale))
