"""Greedy on running totals of noisy block sums; Laplace noise by the inverse distribution function.

Privacy. -b sign(u) log(1 - 2|u|) with u uniform on (-1/2, 1/2) is Laplace of scale b = 1 / eps. When a block
closes, each arm's sum over that block is released with one such draw. A reward is in one block and one
sum, which it changes by at most 1. The running totals add up released values: post-processing.
"""

import numpy as np

EPSILON = 1.0


def laplace(scale, n, rng):
    u = rng.random(n) - 0.5
    return -scale * np.sign(u) * np.log(np.maximum(1.0 - 2.0 * np.abs(u), 1e-300))


def play(rewards, rng, block=8):
    T, K = rewards.shape
    released = np.zeros(K)
    pulls = np.zeros(K)
    a_hist = np.empty(T, dtype=int)
    for b in range(0, T, block):
        stop = min(b + block, T)
        best = int(np.argmax(released / np.maximum(pulls, 1)))
        acc = np.zeros(K)
        for t in range(b, stop):
            a = (t - b) % K if t - b < K else best
            a_hist[t] = a
            acc[a] += rewards[t, a]
            pulls[a] += 1
        released += acc + laplace(1.0 / EPSILON, K, rng)
    return a_hist
