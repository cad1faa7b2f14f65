"""Noisy leader of each block.

Flaw: the noise is a single number added to all sums (no size given), so it cancels when they are compared and the exact leader is
played. Pair (K = 2): all rewards 0, against reward 1 for arm 1 in round 1. The leader after the first block is arm 0 (ties go
to the first), against arm 1: chance 1 against 0. Infinite.
"""

import numpy as np

EPSILON = 1.0
BLOCK = 10


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    noisy_total = np.zeros(K)
    for start in range(0, T, BLOCK):
        leader = int(np.argmax(noisy_total))
        raw = np.zeros(K)
        for t in range(start, min(T, start + BLOCK)):
            if start == 0 or rng.random() < 0.3:
                a = (t - start) % K
            else:
                a = leader
            actions[t] = a
            raw[a] += rewards[t, a]
        noisy_total += raw + rng.laplace(0, 1 / EPSILON)
    return actions
