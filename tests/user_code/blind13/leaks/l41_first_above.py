"""Which entry is the first above the bar?

Claim: epsilon = 1 (pure).  data: five floats in [0, 1], neighbours differ in one entry.
The sparse vector idea: the bar (one half) gets Laplace noise with scale 1 / epsilon once, entries are compared with
it in order, and only the position of the first entry above is released (5 if there is none).
"""
import numpy as np

EPSILON = 1.0
BAR = 0.5


def noisy_bar(rng):
    u = rng.random() - 0.5
    return BAR - np.sign(u) * np.log1p(-2.0 * abs(u)) / EPSILON


def release_one(data, rng):
    bar = noisy_bar(rng)
    return next((i for i, x in enumerate(data) if x >= bar), len(data))
