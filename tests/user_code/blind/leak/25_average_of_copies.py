"""Stable private sums: ten independent noisy versions are averaged before arms are compared.

Flaw: each version costs eps and there are ten. Their average has noise of variance 0.2 for each arm. Pair (five pulls for each of two arms): arm 0 earns
1 in its first three pulls, against 1, 1, 0; all else 0. The difference of the noises is close to a normal variable of standard
deviation 0.63, tails somewhat heavier (20 gamma variables against 20). Arm 1 wins if it exceeds 3, against 2: log-ratio 5.2; from
1 to 2: 0.0564 against 0.0011, 3.9; from 0 to 1: 0.5 against 0.0564, 2.18; from 3 to 4: 6.1.
"""

import numpy as np

EPSILON = 1.0
COPIES = 10


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, 5 * K)
    actions = np.arange(T) % K
    sums = np.zeros(K)
    for t in range(n):
        sums[actions[t]] += rewards[t, actions[t]]
    copies = sums + rng.laplace(0, 1 / EPSILON, (COPIES, K))
    actions[n:] = np.argmax(copies.mean(axis=0))
    return actions
