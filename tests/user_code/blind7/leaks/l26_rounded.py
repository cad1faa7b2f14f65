"""Rounds the sum to a multiple of three before the noise.

Leak. Rounding makes a step of 3 of a step of 1: a sum of 4 becomes 3 and a sum of 5 becomes 6, and noise of
scale 1 / EPSILON gives 3 EPSILON. Worst pair: the first arm's exploration pays 4 or 5 with the mark at 6.
"""

import numpy as np

EPSILON = 0.5
STEP = 3
PULLS = 12


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    total = rewards[:PULLS, 0].sum()
    rounded = STEP * np.rint(total / STEP)
    scores = np.full(n_arms, PULLS / 2)
    scores[0] = rounded + rng.laplace(0, 1 / EPSILON)
    best = int(np.argmax(scores))
    return np.r_[np.zeros(PULLS, dtype=int), np.full(horizon - PULLS, best)]
