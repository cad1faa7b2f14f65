"""Successive elimination with batches that double and are forgotten.

Privacy. In epoch e every active arm is pulled n = 2^(e+1) times. The mean of these n rewards moves by at most
1 / n when one of them changes, and gets Laplace noise of scale 1 / (n eps): eps-DP. Means of earlier epochs
are not used again and other arms' means do not contain the reward, so the total is eps. An epoch that the
horizon cuts short releases nothing.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    active = list(range(K))
    actions, e = [], 0
    while len(actions) < T and len(active) > 1:
        n = 2 ** (e + 1)
        if len(actions) + n * len(active) > T:
            break
        means = {}
        for a in active:
            got = []
            for _ in range(n):
                got.append(rewards[len(actions), a])
                actions.append(a)
            means[a] = np.mean(got) + rng.laplace(0, 1 / (n * EPSILON))
        best = max(means.values())
        width = np.sqrt(np.log(2 * T) / (2 * n)) * 0.5 + 1 / (n * EPSILON)
        active = [a for a in active if means[a] >= best - width]
        e += 1
    i = 0
    while len(actions) < T:
        actions.append(active[i % len(active)])
        i += 1
    return np.array(actions, dtype=int)
