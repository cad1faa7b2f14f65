"""Explores until some arm has earned three, then commits through report noisy max.

Flaw: the commitment is private, its time is not. Pair (K = 2): arm 0 earns 1, 1, 1 in rounds 0, 2, 4, against 1, 1, 0; all else 0. With
three successes exploring ends after round 4 and rounds 5 to 39 have one arm: round 5 and round 6 are alike. With two it never
ends before half time, so rounds 5 and 6 differ for certain. Infinite.
"""

import numpy as np

EPSILON = 1.0
ENOUGH = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    earned = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    t = 0
    while t < T // 2 and earned.max() < ENOUGH:
        a = t % K
        actions[t] = a
        earned[a] += rewards[t, a]
        t += 1
    actions[t:] = np.argmax(earned + rng.laplace(0, 1 / EPSILON, K))
    return actions
