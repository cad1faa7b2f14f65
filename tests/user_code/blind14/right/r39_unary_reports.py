"""Five locally private one-hot reports (optimised unary encoding), epsilon = 1.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
Every entry is one-hot encoded over four bins.  The hot bit is reported as one
with probability 1/2, a cold bit with probability 1 / (1 + e^eps); changing an
entry touches one bit of either kind.
"""
import numpy as np

EPSILON = 1.0
BINS = 4
P_HOT = 0.5
P_COLD = 1.0 / (1.0 + np.exp(EPSILON))


def one_hot(data):
    cell = np.minimum((np.asarray(data, dtype=float) * BINS).astype(int), BINS - 1)
    return np.eye(BINS, dtype=bool)[cell]


def release(data, size, rng):
    p = np.where(one_hot(data), P_HOT, P_COLD)
    return (rng.random((size,) + p.shape) < p).astype(np.int8)
