"""Local release of a vector of five floats in [0, 1] (piecewise mechanism).

Every entry is mapped to [-1, 1] and answered on its own by the piecewise
mechanism of Wang et al. (2019): with a high density on an interval around the
value, a low density elsewhere in [-C, C].  Claim: 1.0-DP (pure) per entry.
"""
import numpy as np

EPSILON = 1.0
_H = np.exp(EPSILON / 2)
C = (_H + 1) / (_H - 1)


def band(v):
    left = 0.5 * (C + 1) * v - 0.5 * (C - 1)
    return left, left + C - 1


def perturb(v, rng):
    left, right = band(v)
    inside = left + (right - left) * rng.random(v.shape)
    # the outside has total length C + 1; walk along it, jumping over the band
    walk = -C + (C + 1) * rng.random(v.shape)
    outside = np.where(walk < left, walk, walk + (right - left))
    return np.where(rng.random(v.shape) < _H / (_H + 1), inside, outside)


def release(data, size, rng):
    v = 2.0 * np.clip(np.asarray(data, dtype=float), 0.0, 1.0) - 1.0
    answers = perturb(np.tile(v, (size, 1)), rng)
    return (answers + 1.0) / 2.0
