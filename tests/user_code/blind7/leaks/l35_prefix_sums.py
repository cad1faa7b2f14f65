"""All prefix sums of a series with the noise of a tree, but without the tree.

Leak. The scale ceil(log2 n) / EPSILON is that of a tree, whose nodes are shared. Here each prefix sum has a
draw of its own, and the first entry is in all of them. Worst pair: the first of eight entries is 0 or 1;
eight sums cost EPSILON / 3 each: 8/3 of the claim.
"""

import math

import numpy as np

EPSILON = 1.0


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    n = len(values)
    levels = max(1, math.ceil(math.log2(n)))
    return np.cumsum(values) + rng.laplace(0, levels / EPSILON, (size, n))


release.neighbours = [
    (np.zeros(8), np.r_[1.0, np.zeros(7)]),
    (np.zeros(8), np.r_[np.zeros(4), 1.0, np.zeros(3)]),
]
