"""A four-bar histogram with whole-number noise.

Replacing an entry takes one unit from one bar and gives it to another: L1 distance 2.  Every bar gets independent
two-sided geometric noise with P(X = k) = (1 - a) / (1 + a) * a^|k|, a = exp(-EPSILON / 2).  A shift by one unit costs at
most e^(EPSILON/2) in a bar, two bars shift, total EPSILON (reached far out in both bars).
The noise is drawn as sign and size: 0 with probability (1 - a) / (1 + a), else +-(geometric).
"""
import numpy as np

EPSILON = 1.0
EDGES = np.array([0.25, 0.5, 0.75])
A = np.exp(-EPSILON / 2.0)


def discrete_laplace(shape, rng):
    zero = rng.random(shape) < (1.0 - A) / (1.0 + A)
    sign = rng.choice(np.array([-1, 1]), size=shape)
    return np.where(zero, 0, sign * rng.geometric(1.0 - A, size=shape))


def release(data, size, rng):
    bars = np.bincount(np.digitize(data, EDGES), minlength=4)
    return bars + discrete_laplace((size, 4), rng)


release.neighbours = [
    (np.array([0.1, 0.2, 0.6, 0.6, 0.9, 0.3]), np.array([0.9, 0.2, 0.6, 0.6, 0.9, 0.3])),
]
