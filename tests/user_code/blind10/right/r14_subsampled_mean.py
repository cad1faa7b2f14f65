"""Mean click rate from a secret random subsample, with the amplification spent on less noise.

Privacy (unit: one of n entries replaced): M of n entries are drawn without replacement, their sum (sensitivity 1) gets
Laplace noise of scale 1/e0.  Let q = M/n, P0 the output law given entry i is left out, P1 and P1' the laws given it is in.
P1 <= e^e0 min(P0, P1'): replace entry i by its new value, or by a random entry not drawn.  So P1 - P1' <= (e^e0 - 1) min(P0, P1')
and (1-q) P0 + q P1 <= (1 + q (e^e0 - 1)) ((1-q) P0 + q P1').  With e0 = log(1 + (e^EPSILON - 1)/q) the factor is e^EPSILON.
The bound is met in the tail for all zeros against a single one.
"""
import numpy as np
from scipy import stats

EPSILON = 0.6
M = 5


def release(data, size, rng):
    data = np.asarray(data, dtype=float)
    n = len(data)
    m = min(M, n)
    e0 = np.log1p(np.expm1(EPSILON) * n / m)
    keys = rng.random((size, n))
    chosen = np.argpartition(keys, m - 1, axis=1)[:, :m]
    sums = data[chosen].sum(axis=1)
    noise = stats.laplace.ppf(rng.uniform(size=size), scale=1.0 / e0)
    return ((sums + noise) / m)[:, None]


release.neighbours = [
    (np.zeros(12), np.r_[1.0, np.zeros(11)]),
    (np.linspace(0, 1, 12), np.r_[1.0, np.linspace(0, 1, 12)[1:]]),
]
