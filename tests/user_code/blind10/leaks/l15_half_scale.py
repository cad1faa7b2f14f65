"""Noisy mean of the entries; fault: scale 1/(2 n eps) where 1/(n eps) is due.

All zeros against one entry 1: the means differ by 1/n. Event: release <= 0.
Loss log of (1/2) / (exp(-2 eps)/2) = 2 eps = 2.
"""
import numpy as np

EPSILON = 1.0


def release_one(data, rng):
    n = len(data)
    return float(np.mean(data) + rng.laplace(0.0, 0.5 / (n * EPSILON)))


release_one.neighbours = [(np.zeros(8), np.r_[1.0, np.zeros(7)])]
