"""Median of tolerated doses, picked from a grid by permute-and-flip.

Claim: pure epsilon = 1 for one replaced entry.
Proof.  below(c) = number of entries under c moves by at most 1 when an entry is replaced, so the score
u(c) = -|below(c) - n/2| moves by at most 1, too.  Permute-and-flip looks at the candidates in random order
and takes c with probability exp(eps (u(c) - max u) / 2); McKenna and Sheldon (2020) prove it eps-DP for
scores of sensitivity 1.  The candidate of highest score is taken for sure, so the walk always ends.
"""
import math

import numpy as np

EPSILON = 1.0
GRID = [0.1, 0.3, 0.5, 0.7, 0.9]


def release_one(data, rng):
    half = len(data) / 2.0
    scores = []
    for c in GRID:
        below = sum(1 for x in data if x < c)
        scores.append(-abs(below - half))
    top = max(scores)
    for i in rng.permutation(len(GRID)):
        if rng.random() < math.exp(EPSILON * (scores[i] - top) / 2.0):
            return GRID[i]
    return GRID[scores.index(top)]


_LEFT = np.array([0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 0.8, 0.8])
_RIGHT = np.array([0.2, 0.2, 0.4, 0.4, 0.4, 0.8, 0.6, 0.6, 0.6, 0.8, 0.8, 0.8])
_LOW = np.array([0.2] * 7 + [0.8] * 5)
_LOWER = np.array([0.2] * 8 + [0.8] * 4)
release_one.neighbours = [(_LEFT, _RIGHT), (_LOW, _LOWER)]
