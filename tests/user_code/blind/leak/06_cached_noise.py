"""Releases running sums of each arm at the end of every stage; the noise of an arm is cached "to save budget".

Flaw: releases at different times carry the same noise, so that their differences are exact. Pair: all rewards 0, against
reward 1 for arm 0 at its first pull in the second stage (round 10 for K = 2). With zero rewards the sums never change and the same arm
wins all stages. With the 1, the winner is arm 1 after stage one and arm 0 after stage two whenever 0 < n1 - n0 < 1,
which has chance 1/2 - e^-1 (1 + 1/2) / 2 = 0.22. An event of chance 0 against one of 0.22: infinite.
"""

import numpy as np

EPSILON = 1.0
STAGE = 10


def play(rewards, rng):
    T, K = rewards.shape
    cache = {}

    def noise(arm):
        if arm not in cache:
            cache[arm] = rng.laplace(0, 1 / EPSILON)
        return cache[arm]

    sums = np.zeros(K)
    out = np.zeros(T, dtype=int)
    leader = None
    for t in range(T):
        i = t % STAGE
        a = i % K if leader is None or i < 2 * K else leader
        out[t] = a
        sums[a] += rewards[t, a]
        if i == STAGE - 1:
            leader = int(np.argmax([sums[k] + noise(k) for k in range(K)]))
    return out
