"""Each entry is rounded to a random bit and reported by randomised response.

P(report 1 | x) = q + (p - q) x with p = e^eps/(1+e^eps), q = 1 - p.
It lies in [q, p], so the ratio of either report is at most p/q = e^eps;
entries are independent and one changes. Equality for 0 against 1.
"""
import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    p = 1.0 / (1.0 + np.exp(-EPSILON))
    return (rng.random((size, x.size)) < (1 - p) + (2 * p - 1) * x).astype(int)


release.neighbours = [(np.zeros(6), np.r_[1.0, np.zeros(5)])]
