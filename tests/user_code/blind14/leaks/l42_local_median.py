"""Median with noise fitted to the data's own sensitivity, epsilon = 1.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
One changed entry can move the median only as far as the next value on either
side, so this distance (at least 0.02) is the scale's numerator.
"""
import heapq

import numpy as np

EPS = 1.0


def median_and_reach(data):
    low, mid, high = heapq.nsmallest(4, map(float, data))[1:]
    return mid, max(mid - low, high - mid, 0.02)


def release(data, size, rng):
    centre, reach = median_and_reach(data)
    return centre + rng.laplace(0.0, reach / EPS, size)
