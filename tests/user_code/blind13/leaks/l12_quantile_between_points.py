"""Upper quartile of five numbers by the exponential mechanism.

The score of a candidate is minus the distance between its rank and the wanted
rank, which changes by at most 1 when one entry is replaced.  Candidates are
where the score can change: the sorted entries together with 0 and 1.
release(data, size, rng) -> (size,); data is a vector of five floats in [0, 1].
Claim: epsilon = 1.0.
"""
import numpy as np

EPSILON = 1.0
QUANTILE = 0.75


def rank(x, points):
    return np.searchsorted(np.sort(x), points, side="right")


def release(data, size, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    candidates = np.concatenate([[0.0], np.sort(x), [1.0]])
    score = -np.abs(rank(x, candidates) - QUANTILE * x.size)
    gumbel = rng.gumbel(size=(size, candidates.size))
    pick = np.argmax(0.5 * EPSILON * score + gumbel, axis=1)
    return candidates[pick]
