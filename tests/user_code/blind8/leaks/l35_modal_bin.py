"""Name of the fullest bin by the exponential mechanism.

FAULT: weights exp(EPSILON * count) instead of exp(EPSILON * count / 2).  Replacing an entry raises one count and lowers
another, so the log-odds of two bins move by 2 EPSILON.
Pair: five entries in bin "b" against four in "b" and one in "a".  Event: "a" is named:
1 / (e^5 + 3) = 0.00660 against e / (e^4 + e + 2) = 0.0459, loss 1.939 (claim 1).
Also three in "b", one each in "c", "d" against one in "a", two in "b", one each in "c", "d": 0.0377 against 0.1749, loss 1.53.
"""
from collections import Counter

import numpy as np

EPSILON = 1.0
NAMES = "abcd"


def release_one(data, rng):
    counts = Counter(NAMES[min(int(4 * x), 3)] for x in data)
    weights = np.array([np.exp(EPSILON * counts[name]) for name in NAMES])
    cut = rng.random() * weights.sum()
    return NAMES[int(np.searchsorted(np.cumsum(weights), cut, side="right"))]


release_one.neighbours = [
    (np.array([0.3, 0.3, 0.4, 0.4, 0.45]), np.array([0.1, 0.3, 0.4, 0.4, 0.45])),
    (np.array([0.3, 0.3, 0.3, 0.6, 0.9]), np.array([0.1, 0.3, 0.3, 0.6, 0.9])),
]
