"""First and second moment together, under a budget in zCDP.

Right. The vector (sum x, sum x^2) changes by at most sqrt(2) in L2 when an entry of [0, 1] is replaced.
Normal noise with variance 2 / (2 rho) in both coordinates is rho-zCDP, and rho is chosen so that rho + 2
sqrt(rho ln(1/delta)) = EPSILON.
"""

import numpy as np

EPSILON, DELTA = 2.0, 1e-3
LOG = np.log(1 / DELTA)
RHO = (np.sqrt(LOG + EPSILON) - np.sqrt(LOG)) ** 2


def release(data, size, rng):
    x = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1)
    return np.array([x.sum(), (x**2).sum()]) + rng.standard_normal((size, 2)) / np.sqrt(RHO)


release.neighbours = [
    (np.zeros(10), np.r_[1.0, np.zeros(9)]),
    (np.full(10, 0.5), np.r_[1.0, np.full(9, 0.5)]),
]
