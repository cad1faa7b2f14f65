"""The winner of a heat is announced through randomised response.

Flaw: the author keeps the winner with chance p = e^eps / (1 + e^eps) = 0.731 as for two arms, and otherwise draws from all K arms, winner
included; so p is a coin on top of a uniform draw. For K = 3 the winner has chance p + (1 - p) / 3 = 0.8207, any other (1 - p) / 3 = 0.0896. The ratio
is 9.15, log 2.21. (For K = 2: 0.8655 / 0.1345, log 1.86.) Pair: arm 1 earns 1/2 in its first pull and arm 0 earns 0, against 1, in its own; all else 0.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    p = np.exp(EPSILON) / (1 + np.exp(EPSILON))
    heat, lap = 3 * K, 2 * K
    actions = np.zeros(T, dtype=int)
    t = 0
    while t < T:
        sums = np.zeros(K)
        for i in range(heat):
            if t < T:
                actions[t] = i % K
                sums[i % K] += rewards[t, i % K]
                t += 1
        announced = int(np.argmax(sums)) if rng.random() < p else int(rng.integers(K))
        for _ in range(lap):
            if t < T:
                actions[t] = announced
                t += 1
    return actions
