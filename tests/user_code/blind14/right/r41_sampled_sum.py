"""Sum over a random half of the data, amplified by the sampling; epsilon = 1.

data: vector of five floats in [0, 1]; neighbours differ in one entry.
Each entry enters independently with probability 1/2, unknown to the reader.  The
inner Laplace budget is e0 with log(1 + q * (exp(e0) - 1)) = epsilon.
"""
import math

EPSILON = 1.0
Q = 0.5
INNER = math.log1p(math.expm1(EPSILON) / Q)


def laplace(scale, rng):
    """Difference of two exponentials."""
    return scale * (rng.standard_exponential() - rng.standard_exponential())


def release_one(data, rng):
    kept = [x for x in data if rng.random() < Q]
    return math.fsum(kept) + laplace(1.0 / INNER, rng)
