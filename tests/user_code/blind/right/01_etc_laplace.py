"""Explore then commit, with Laplace noise on the reward sums.

Every arm is pulled m times in turn. Then one noisy sum per arm is formed and the arm with the largest
one is played until the end.

Privacy. A reward lies in [0, 1] and enters the sum of one arm only, once. So the vector of sums has L1
sensitivity 1, and Laplace noise of scale 1 / epsilon makes it epsilon-DP. The order of exploration is
fixed and the commitment is post-processing. Later rewards are not looked at.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    m = max(1, T // (4 * K))
    n = min(T, m * K)
    actions = np.empty(T, dtype=int)
    sums = np.zeros(K)
    for t in range(n):
        a = t % K
        actions[t] = a
        sums[a] += rewards[t, a]
    noisy = sums + rng.laplace(0.0, 1.0 / EPSILON, size=K)
    actions[n:] = np.argmax(noisy)
    return actions
