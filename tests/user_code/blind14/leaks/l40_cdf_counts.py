"""Empirical distribution function at four points, epsilon = 0.8.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
Every count has sensitivity one and gets Laplace noise; the noisy counts are
then made monotone and kept within 0..5.
"""
from scipy import stats
import numpy as np

EPS = 0.8
POINTS = np.array([0.2, 0.4, 0.6, 0.8])


def counts_below(x):
    return (x[None, :] <= POINTS[:, None]).sum(axis=1)


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    noise = stats.laplace(scale=1.0 / EPS).rvs(size=(size, POINTS.size), random_state=rng)
    monotone = np.maximum.accumulate(counts_below(x) + noise, axis=1)
    return np.clip(monotone, 0, x.size)
