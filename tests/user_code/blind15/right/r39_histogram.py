"""Noisy histogram of five numbers in [0, 1] over four equal bins.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  Moving an entry takes
one from a bin and adds one to another: L1 sensitivity 2, Laplace scale 2 / epsilon.  The
counts are cut at zero and turned into shares afterwards.  Claim: epsilon = 1.0 (pure).
"""
import numpy as np

BINS = 4
EPSILON = 1.0
SENSITIVITY = 2.0


def counts(data):
    cell = np.minimum((np.asarray(data, dtype=float) * BINS).astype(int), BINS - 1)
    return np.bincount(cell, minlength=BINS)


def release(data, size, rng):
    noisy = counts(data) + rng.laplace(0.0, SENSITIVITY / EPSILON, size=(size, BINS))
    noisy = np.maximum(noisy, 0.0)
    total = noisy.sum(axis=1, keepdims=True)
    return np.divide(noisy, total, out=np.full_like(noisy, 1.0 / BINS), where=total > 0)
