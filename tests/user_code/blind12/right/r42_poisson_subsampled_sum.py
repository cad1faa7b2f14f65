"""Poisson-subsampled noisy sum, epsilon = 1 (pure) by amplification.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
Each entry is kept independently with probability 0.4; the sum over the kept entries
gets Laplace noise of scale 1 / eps0 with eps0 = log(1 + (e^eps - 1) / 0.4).  The kept
set stays secret.  The result is divided by five times the rate and put on a grid.
"""
import numpy as np

EPS = 1.0
RATE = 0.4
EPS0 = np.log1p(np.expm1(EPS) / RATE)


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    kept = rng.random((size, x.size)) < RATE
    sums = np.where(kept, x, 0.0).sum(axis=1)
    noise = (rng.exponential(1.0 / EPS0, size) - rng.exponential(1.0 / EPS0, size))
    estimate = (sums + noise) / (RATE * x.size)
    return np.round(estimate * 256.0).reshape(size, 1) / 256.0
