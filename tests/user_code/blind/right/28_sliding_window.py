"""Sliding-window greedy for drifting rewards.

Privacy. The window is made of the last three blocks. Each block's sums are noised once with Laplace(1 / eps), when
the block ends, and stored; the window adds up stored values and never touches rewards. Blocks are disjoint, and
one reward moves one sum of one block by at most 1. Whether to go on exploring depends on stored values only.
"""

from collections import deque

import numpy as np

EPSILON = 1.0
BLOCK, KEEP = 6, 3


def play(rewards, rng):
    T, K = rewards.shape
    window = deque(maxlen=KEEP)
    block_sum, block_n = np.zeros(K), np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        if window:
            s = sum(w[0] for w in window)
            n = np.maximum(sum(w[1] for w in window), 1)
            ranking = np.sort(s / n)
            sure = ranking[-1] - ranking[0] > 0.5
            a = int(np.argmax(s / n)) if sure or t % 3 else int(rng.integers(K))
        else:
            a = t % K
        actions[t] = a
        block_sum[a] += rewards[t, a]
        block_n[a] += 1
        if (t + 1) % BLOCK == 0:
            window.append((block_sum + rng.laplace(0, 1 / EPSILON, K), block_n))
            block_sum, block_n = np.zeros(K), np.zeros(K)
    return actions
