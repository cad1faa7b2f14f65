"""Overlapping moving averages and an overall mean of a series of five floats in [0, 1]. Claims epsilon = 1, pure.

data: vector of five floats, neighbours differ in one entry. The release is W @ data + Laplace noise, where the scale is the
largest column L1 norm of the fixed matrix W over epsilon (the middle entry sits in all three windows and the mean).
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

EPSILON, N, WINDOW = 1.0, 5, 3


def workload():
    rows = [np.full(N, 1.0 / N)]
    for index in sliding_window_view(np.arange(N), WINDOW):
        row = np.zeros(N)
        row[index] = 1.0 / WINDOW
        rows.append(row)
    return np.vstack(rows)


def release(data, size, rng):
    W = workload()
    sensitivity = np.abs(W).sum(axis=0).max()
    truth = W @ np.asarray(data, dtype=float)
    return truth + rng.laplace(0.0, sensitivity / EPSILON, size=(size, truth.size))
