"""Explore, then commit, with normal noise of standard deviation 1 / eps on the sums.

Flaw: normal noise is not pure DP, and sigma = 1 is small even for approximate DP. Pair (ten pulls for each of two arms): arm 0 earns 1 in its first
four pulls, against 1, 1, 1, 0; all else 0. Arm 1 wins if N(0, 2) exceeds 4, against 3: 0.0023 against 0.0170, log-ratio 1.98. From
9 to 10: about 4.7, so the true epsilon of one commitment is at least 4.5 (and grows with the number of pulls).
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, (T // (2 * K)) * K)
    actions = np.arange(T) % K
    sums = np.zeros(K)
    for t in range(n):
        sums[actions[t]] += rewards[t, actions[t]]
    sigma = 1.0 / EPSILON
    actions[n:] = np.argmax(sums + sigma * rng.standard_normal(K))
    return actions
