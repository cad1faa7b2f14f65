"""Histogram of sixteen rewards in four bins. A replaced reward leaves one bin and enters another: two counts move by 1, so
discrete Laplace noise with exp(-epsilon/2) a step."""

import numpy as np


def release(data, size, rng, epsilon=1.0):
    counts = np.histogram(data, bins=4, range=(0.0, 1.0))[0]
    p = 1 - np.exp(-epsilon / 2)
    return counts + rng.geometric(p, (size, 4)) - rng.geometric(p, (size, 4))


release.neighbours = [
    (np.full(16, 0.1), np.r_[0.9, np.full(15, 0.1)]),
    (np.linspace(0, 1, 16), np.r_[1.0, np.linspace(0, 1, 16)[1:]]),
]
