"""Total of a bounded sample with Laplace noise by the inverse-CDF method."""
import math
import numpy as np

EPS = 1.0


def laplace(rng, b):
    u = rng.random() / 2.0
    return -b * math.copysign(1.0, u) * math.log(1.0 - 2.0 * u)


def release(data, rng):
    total = float(np.clip(data, 0, 1).sum())
    return total + laplace(rng, 1.0 / EPS)
