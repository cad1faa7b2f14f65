"""Histogram of lead times in four classes, two-sided geometric noise on every count.

Proof.  Replacing one entry takes 1 from at most one class and adds 1 to another: the L1 sensitivity is 2.
The difference of two geometric variables with success 1 - a has law (1 - a)/(1 + a) a^|k|, and a = exp(-EPSILON / 2).
The density of the noisy vector therefore changes by at most a^-(1 + 1) = exp(EPSILON); the classes are noised
independently and the number of entries is public.  The bound is met when the entry crosses a class border.
"""
import numpy as np
import pandas as pd

EPSILON = 1.4
EDGES = [0.0, 0.25, 0.5, 0.75, 1.0]


def class_counts(data):
    binned = pd.cut(np.asarray(data, dtype=float), EDGES, include_lowest=True, labels=False)
    return np.bincount(binned, minlength=len(EDGES) - 1)


def release(data, size, rng):
    counts = class_counts(data)
    stay = np.exp(-EPSILON / 2)
    up, down = rng.geometric(1 - stay, size=(2, size, counts.size))
    return counts + up - down


release.neighbours = [
    (np.array([0.1, 0.2, 0.3, 0.3, 0.6, 0.6, 0.7, 0.9, 0.9, 1.0]), np.array([0.8, 0.2, 0.3, 0.3, 0.6, 0.6, 0.7, 0.9, 0.9, 1.0])),
    (np.array([0.5] * 9 + [0.4]), np.array([0.5] * 9 + [0.0])),
]
