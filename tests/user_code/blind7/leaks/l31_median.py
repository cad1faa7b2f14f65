"""A median from the exponential mechanism without the factor 1/2.

Leak. A replaced entry raises the score of some candidates and lowers that of others, so that weights
exp(EPSILON * score) give up to 2 EPSILON. Worst pair: the lowest of ten entries, 0, becomes 1, with five at
0.5 and four at 1. Candidates up to 0.5 fall from rank 1 to 0 (score -5 for -4), those above rise to the
exact middle (0 for -1). A low candidate has a log ratio of 1.96.
"""

import numpy as np

EPSILON = 1.0
GRID = np.linspace(0, 1, 11)


def utility(values, candidate):
    return -abs(np.count_nonzero(values < candidate) - len(values) / 2)


def release(data, size, rng):
    values = np.atleast_1d(np.asarray(data, dtype=float))
    scores = EPSILON * np.array([utility(values, c) for c in GRID])
    weights = np.exp(scores - scores.max())
    return rng.choice(GRID, size=size, p=weights / weights.sum())


release.neighbours = [
    (np.r_[0.0, np.full(5, 0.5), np.ones(4)], np.r_[1.0, np.full(5, 0.5), np.ones(4)]),
    (np.linspace(0, 1, 9), np.r_[1.0, np.linspace(0, 1, 9)[1:]]),
]
