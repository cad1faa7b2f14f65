"""Which entry is the largest, and how large is it?

release_one(data, rng): data is a vector of five floats in [0, 1].  Half of the
budget picks an index by report noisy max (exponential noise; one entry moves one
score by at most 1), the other half publishes the value at that index with
Laplace noise.  Returns [index, value].  Claim: epsilon = 2.0.
"""
import math

import numpy as np

EPSILON = 2.0


def exponential(rng, scale):
    return -scale * math.log1p(-rng.random())


def laplace(rng, scale):
    return exponential(rng, scale) - exponential(rng, scale)


def noisy_argmax(values, eps, rng):
    best, best_score = 0, -math.inf
    for i, v in enumerate(values):
        s = v + exponential(rng, 1.0 / eps)
        if s > best_score:
            best, best_score = i, s
    return best


def release_one(data, rng):
    values = [min(max(float(x), 0.0), 1.0) for x in data]
    half = EPSILON / 2.0
    i = noisy_argmax(values, half, rng)
    y = values[i] + laplace(rng, 1.0 / half)
    return np.array([float(i), y])
