"""The sum of a secret sample without replacement.

Right. Five of n entries are drawn afresh in every run. The sum of the sample has noise for eps0 = ln(1 +
(e^EPSILON - 1) n / 5), and sampling m of n without replacement makes ln(1 + m / n (e^eps0 - 1)) = EPSILON
of it for replaced entries (Balle, Barthe and Gaboardi 2018). Fewer than five entries are all taken, without
amplification.
"""

import numpy as np

EPSILON = 1.0
SAMPLE = 5


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    n = len(values)
    m = min(SAMPLE, n)
    inner = np.log1p(np.expm1(EPSILON) * n / m)
    chosen = rng.random((size, n)).argpartition(m - 1, axis=1)[:, :m]
    return values[chosen].sum(axis=1) + rng.laplace(0, 1 / inner, size)


release.neighbours = [(np.zeros(20), np.r_[1.0, np.zeros(19)]), (np.ones(10), np.r_[0.0, np.ones(9)])]
