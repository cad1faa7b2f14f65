"""Mean of measurements with Laplace noise scaled to their spread.

FAULT: the sensitivity is taken as (observed range)/n, which depends on the data: an outlier changes the noise scale as well as the
mean, and the ratio of two Laplace densities of different scales is unbounded.
Pair: ten measurements between 0.4 and 0.5, against the same with one 0.4 replaced by 1.0.  The range goes from 0.1 to 0.6, so the
scale (eps = 1) goes from 0.01 to 0.06, and the mean from 0.45 to 0.51.  Event: release above 0.61.  Probability 0.5 e^-16 = 5.6e-8
against 0.5 e^(-10/6) = 0.0944: loss 14.3 for a claim of 1.0; further out it grows without bound (infinite).
"""
import numpy as np
import pandas as pd

EPSILON = 1.0


def release(data, size, rng):
    s = pd.Series(np.asarray(data, dtype=float)).clip(0.0, 1.0)
    summary = s.describe()
    spread = summary["max"] - summary["min"]
    scale = spread / (summary["count"] * EPSILON)
    return summary["mean"] + rng.laplace(0.0, 1.0, size=size) * scale


_left = np.array([0.4, 0.5, 0.4, 0.5, 0.45, 0.45, 0.4, 0.5, 0.4, 0.5])
_right = _left.copy()
_right[0] = 1.0
release.neighbours = [(_left, _right)]
