"""Mean of five numbers in [0, 1], Laplace noise of scale 1/(5 eps); draws outside [0, 1] are
drawn again so that the release is a valid mean.  Neighbours differ in one entry.
Epsilon = 0.5 (pure).
"""
import numpy as np

EPS = 0.5


def outside(values):
    return (values < 0.0) | (values > 1.0)


def release(data, size, rng):
    mean = float(np.mean(data))
    scale = 1.0 / (len(data) * EPS)
    out = rng.laplace(mean, scale, size)
    bad = np.flatnonzero(outside(out))
    while bad.size:
        out[bad] = rng.laplace(mean, scale, bad.size)
        bad = bad[outside(out[bad])]
    return out
