"""Robust average of reading depths: trimmed mean with Laplace noise.

FAULT: the scale 1 / (n EPSILON) belongs to the mean of n entries.  With 40 % cut from both ends of n = 10 only two entries are
averaged and a replaced entry can move the result by 1/2 = 5 / n.
Pair: five zeros and five ones (middle entries 0 and 1, trimmed mean 0.5) against four zeros and six ones (1.0).
Event: release >= 1.  Probabilities e^(-5 EPSILON) / 2 = 0.041 and 0.5, loss 5 EPSILON = 2.5.
"""
from functools import partial

import numpy as np
from scipy import stats

EPSILON = 0.5

robust_mean = partial(stats.trim_mean, proportiontocut=0.4)


def release_one(data, rng):
    data = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    scale = 1.0 / (len(data) * EPSILON)
    return float(robust_mean(data) + stats.laplace(scale=scale).rvs(random_state=rng))


release_one.neighbours = [
    (np.repeat([0.0, 1.0], 5), np.repeat([0.0, 1.0], [4, 6])),
]
