"""Exponential mechanism that never plays arms with a chance below 0.15.

Flaw: which arms have chance 0 depends on the data. Pair (K = 2): arm 0 earns 1, 1 in its first two pulls, against 1, 0; all else
0. Arm 1 has chance 1 / (1 + e^2) = 0.119, which is cut to 0, against 1 / (1 + e) = 0.269. Infinite.
"""

import numpy as np

EPSILON = 1.0
FLOOR = 0.15


def play(rewards, rng):
    T, K = rewards.shape
    block = 6 * K
    actions = np.zeros(T, dtype=int)
    for start in range(0, T, block):
        stop = min(T, start + block)
        half = min(stop, start + block // 2)
        s = np.zeros(K)
        for t in range(start, half):
            a = (t - start) % K
            actions[t] = a
            s[a] += rewards[t, a]
        p = np.exp(EPSILON * (s - s.max()))
        p /= p.sum()
        p[p < FLOOR] = 0.0
        p /= p.sum()
        actions[half:stop] = rng.choice(K, p=p)
    return actions
