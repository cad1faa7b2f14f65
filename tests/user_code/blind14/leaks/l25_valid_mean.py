"""Mean of the valid readings among five numbers in [0, 1] (a reading under 0.05 is a dropout).
Neighbours differ in one entry.  A mean of n readings has sensitivity 1/n, so it gets
Laplace(1/(n eps)).  Epsilon = 1 (pure).
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
FLOOR = 0.05


def valid_readings(data):
    x = np.asarray(data, dtype=float)
    return x[x >= FLOOR]


def release(data, size, rng):
    good = valid_readings(data)
    n = max(good.size, 1)
    centre = good.sum() / n
    noise = stats.laplace(loc=centre, scale=1.0 / (n * EPSILON))
    return noise.rvs(size=size, random_state=rng)
