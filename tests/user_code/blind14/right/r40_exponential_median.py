"""Private median on the unit interval by the exponential mechanism, epsilon = 2.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
A point with i entries below it has utility -|i - 5/2|, which one entry moves by
at most one; density proportional to exp(eps * utility / 2).
"""
import numpy as np
from scipy.special import softmax

EPS = 2.0


def release(data, size, rng):
    x = np.sort(np.clip(np.asarray(data, dtype=float), 0.0, 1.0))
    n = x.size
    knots = np.concatenate(([0.0], x, [1.0]))
    width = np.diff(knots)
    utility = -np.abs(np.arange(n + 1) - n / 2)
    with np.errstate(divide="ignore"):
        p = softmax(np.log(width) + EPS * utility / 2)
    cell = rng.choice(n + 1, size=size, p=p)
    return knots[cell] + width[cell] * rng.random(size)
