"""Counts of successes with two-sided geometric noise.

Privacy. A round is a success if its reward is at least 1/2. One reward changes the success count of one arm
in one block by at most 1. The difference of two geometric variables with success chance 1 - alpha has
P(k) proportional to alpha^|k|; with alpha = e^-eps a shift by 1 changes it by a factor of at most e^eps. Counts
of a block are released once, and what follows uses released counts only.
"""

import numpy as np

EPSILON = 1.0
ALPHA = np.exp(-EPSILON)


def two_sided_geometric(size, rng):
    return rng.geometric(1 - ALPHA, size) - rng.geometric(1 - ALPHA, size)


def play(rewards, rng):
    T, K = rewards.shape
    block = 5 * K
    noisy_successes = np.zeros(K, dtype=int)
    trials = np.zeros(K, dtype=int)
    actions = np.zeros(T, dtype=int)
    for start in range(0, T, block):
        rate = (noisy_successes + 1) / (trials + 2)
        favourite = int(np.argmax(rate))
        successes = np.zeros(K, dtype=int)
        for t in range(start, min(start + block, T)):
            a = (t % K) if (t - start) < 2 * K else favourite
            actions[t] = a
            trials[a] += 1
            successes[a] += int(rewards[t, a] >= 0.5)
        noisy_successes += successes + two_sided_geometric(K, rng)
    return actions
