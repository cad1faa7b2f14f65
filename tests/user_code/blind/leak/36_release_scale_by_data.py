"""A sum of numbers in [0, 1] with less noise where it is small ("relative error").

Flaw: noise has scale 1 / (2 eps) for sums below 1 and 1 / eps from 1 on. Pair: (0, 0, 0, 0) and (1, 0, 0, 0). The densities at y are e^(-2 |y|) and
e^(-|y - 1|) / 2; far to the right log-ratios grow like y, without bound. P(y > 2): 0.0092 against 0.184, log-ratio 3.0.
"""

import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    total = float(np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1).sum())
    scale = 1 / EPSILON if total >= 1 else 0.5 / EPSILON
    return total + scale * rng.laplace(size=size)


release.neighbours = [(np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]))]
