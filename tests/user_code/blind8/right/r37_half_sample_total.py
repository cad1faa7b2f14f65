"""Total of a random half of the entries, scaled up, with Laplace noise.

A sample of M out of n without replacement is summed and gets Laplace(1 / EPS0) noise.  On the sample the mechanism is
EPS0-private for a replaced entry.  Write the output law as (1 - q) A + q B, q = M / n, A without and B with the changed
entry; B <= e^EPS0 B' and, swapping the entry for one left out, B <= e^EPS0 A.  So (advanced joint convexity) the ratio
is at most 1 + q (e^EPS0 - 1), which is e^EPSILON for EPS0 = log(1 + (e^EPSILON - 1) / q).
"""
import math

import numpy as np

EPSILON = 1.0
FRACTION = 0.5


def release_one(data, rng):
    n = len(data)
    m = round(FRACTION * n)
    eps0 = math.log1p(math.expm1(EPSILON) * n / m)
    chosen = rng.permutation(n)[:m]
    return (float(np.take(data, chosen).sum()) + rng.laplace(0.0, 1.0 / eps0)) * n / m


release_one.neighbours = [
    (np.zeros(8), np.eye(8)[3]),
    (np.linspace(0, 1, 8), np.r_[1.0, np.linspace(0, 1, 8)[1:]]),
]
