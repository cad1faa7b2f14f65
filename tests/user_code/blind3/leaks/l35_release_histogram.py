"""Histogram of twenty rewards in five bins; one reward is in one bin."""

import numpy as np


def release(data, size, rng, epsilon=1.0):
    counts, _ = np.histogram(np.asarray(data), bins=5, range=(0, 1))
    return counts + rng.laplace(0, 1 / epsilon, (size, counts.size))


release.neighbours = [(np.full(20, 0.5), np.r_[0.95, np.full(19, 0.5)])]
