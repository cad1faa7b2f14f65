"""Private mean that always lies in [0, 1].

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
Laplace noise of scale 1 / (n epsilon) is added to the mean; draws which would leave
the unit interval are repeated, so that no mass piles up at the ends.
Claim: pure epsilon-DP, epsilon = 0.5.
"""
import numpy as np

EPSILON = 0.5


def release(data, size, rng):
    mean = float(np.mean(data))
    scale = 1.0 / (len(data) * EPSILON)
    out = mean + rng.laplace(0.0, scale, size)
    bad = (out < 0.0) | (out > 1.0)
    while bad.any():
        out[bad] = mean + rng.laplace(0.0, scale, int(bad.sum()))
        bad = (out < 0.0) | (out > 1.0)
    return out.reshape(size, 1)
