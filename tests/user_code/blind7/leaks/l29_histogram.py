"""A histogram of four bins with noise for one changed cell.

Leak. When an entry is replaced, one bin loses and another gains: the L1 sensitivity is 2, and noise of
scale 1 / EPSILON gives 2 EPSILON. Worst pair: an entry moves from the first bin to the last; the first
count is low and the last one high.
"""

import numpy as np

EPSILON = 0.8


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    counts, _ = np.histogram(np.clip(values, 0, 1), bins=4, range=(0, 1))
    return counts + rng.laplace(0, 1 / EPSILON, (size, 4))


release.neighbours = [
    (np.zeros(8), np.r_[1.0, np.zeros(7)]),
    (np.linspace(0, 1, 12), np.r_[0.3, np.linspace(0, 1, 12)[1:]]),
]
