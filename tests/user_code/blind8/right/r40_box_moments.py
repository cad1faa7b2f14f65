"""First two moments with max-norm noise (K-norm mechanism on a box).

(sum x, sum x^2) moves by at most 1 in max-norm when an entry is replaced.  The noise is R * U with R ~ Gamma(3, 1/EPSILON)
and U uniform on the square [-1, 1]^2; its density is proportional to exp(-EPSILON * max(|z1|, |z2|)), because
integrating r^2 e^(-EPSILON r) * r^-2 over r >= |z| leaves e^(-EPSILON |z|).  A shift by v changes the density by at
most e^(EPSILON |v|_max) <= e^EPSILON, by the triangle inequality.
"""
from typing import NamedTuple

import numpy as np

EPSILON = 0.6


class Moments(NamedTuple):
    first: float
    second: float


def moments(data):
    return Moments(float(np.sum(data)), float(np.dot(data, data)))


def release_one(data, rng):
    noise = rng.gamma(3.0, 1.0 / EPSILON) * rng.uniform(-1.0, 1.0, size=2)
    return np.array(moments(np.asarray(data, dtype=float))) + noise


release_one.neighbours = [
    (np.array([0.0, 0.5, 0.5, 0.2]), np.array([1.0, 0.5, 0.5, 0.2])),
]
