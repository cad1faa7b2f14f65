"""First three power sums under one cube-shaped noise vector, epsilon = 1.5.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
One entry moves each of the sums of x, x^2, x^3 by at most one, so the change
lies in the unit cube; the K-norm mechanism for the maximum norm has density
proportional to exp(-eps * max|z|).
"""
import numpy as np

EPS = 1.5
POWERS = np.array([1, 2, 3])


def cube_noise(size, d, eps, rng):
    radius = rng.gamma(shape=d + 1, scale=1.0 / eps, size=(size, 1))
    return radius * rng.uniform(-1.0, 1.0, size=(size, d))


def release(data, size, rng):
    x = np.asarray(data, dtype=float).reshape(-1, 1)
    moments = (x ** POWERS).sum(axis=0)
    return moments + cube_noise(size, POWERS.size, EPS, rng)
