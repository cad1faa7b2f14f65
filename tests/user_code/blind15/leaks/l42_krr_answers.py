"""Generalised randomised response of five answers in quarters.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.  Every entry is put into
one of four quarters; the true quarter is kept with probability e^eps / (1 + e^eps), else one of
the other quarters is answered.  Claim: epsilon = 1.0 (pure, local).
"""
import numpy as np
from scipy.special import expit

EPSILON = 1.0
QUARTERS = 4


def quarter(x):
    return np.clip(np.floor(np.asarray(x) * QUARTERS), 0, QUARTERS - 1).astype(int)


def release(data, size, rng):
    truth = np.broadcast_to(quarter(data), (size, len(data)))
    honest = rng.random(truth.shape) < expit(EPSILON)
    shift = rng.integers(1, QUARTERS, size=truth.shape)
    return np.where(honest, truth, (truth + shift) % QUARTERS)
