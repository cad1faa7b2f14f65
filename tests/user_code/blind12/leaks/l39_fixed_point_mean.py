"""Mean of five values by a fixed-point discrete Laplace mechanism, epsilon = 1 (pure).

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
In units of 1/50 the sum has sensitivity 50, so the integer noise has
P(z) proportional to exp(-eps |z| / 50); it is drawn as a sign and a geometric variable
with rejection of the negative zero.  The result is rounded to six decimals.
"""
import numpy as np

EPS = 1.0
UNIT = 50


def discrete_laplace(size, rng, t=EPS / UNIT):
    out = np.zeros(size, dtype=np.int64)
    todo = np.arange(size)
    while todo.size:
        magnitude = rng.geometric(-np.expm1(-t), todo.size) - 1
        negative = rng.random(todo.size) < 0.5
        good = ~(negative & (magnitude == 0))
        out[todo[good]] = np.where(negative, -magnitude, magnitude)[good]
        todo = todo[~good]
    return out


def release(data, size, rng):
    units = np.clip(np.asarray(data, float), 0.0, 1.0) * UNIT
    noisy = units.sum() + discrete_laplace(size, rng)
    mean = noisy / (UNIT * units.size)
    return np.round(mean, 6).reshape(size, 1)
