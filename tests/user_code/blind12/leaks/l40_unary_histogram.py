"""Histogram of five values by unary encoding in the local model, epsilon = 1 (pure).

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
Each person encodes the quarter his value lies in as a one-hot vector of four bits and
keeps each bit with probability e^eps / (1 + e^eps), else flips it.  The collector
publishes the four debiased totals.
"""
import numpy as np
from scipy.special import expit

EPS = 1.0
BINS = 4
KEEP = expit(EPS)


def one_hot(data):
    cell = np.minimum((np.clip(np.asarray(data, float), 0, 1) * BINS).astype(int), BINS - 1)
    return np.eye(BINS, dtype=bool)[cell]


def release(data, size, rng):
    bits = one_hot(data)
    flips = rng.random((size,) + bits.shape) >= KEEP
    totals = np.logical_xor(bits[None], flips).sum(axis=1)
    return (totals - bits.shape[0] * (1 - KEEP)) / (2 * KEEP - 1)
