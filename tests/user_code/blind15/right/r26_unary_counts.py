"""Local reports by symmetric unary encoding, summed: one draw per call. Claims epsilon = 2, pure.

data: five floats in [0, 1], neighbours differ in one entry. Each person writes the cell of his value (four cells) as a one-hot word
and flips every bit with chance 1 / (1 + e^(epsilon/2)); two words differ in two bits. The collector publishes the bit counts.
"""
from math import exp

import numpy as np

EPSILON, CELLS = 2.0, 4
FLIP = 1.0 / (1.0 + exp(EPSILON / 2))


def word(value):
    cell = min(CELLS - 1, int(value * CELLS))
    return np.arange(CELLS) == cell


def report(value, rng):
    return word(value) ^ (rng.random(CELLS) < FLIP)


def release_one(data, rng):
    return np.sum([report(float(v), rng) for v in data], axis=0)
