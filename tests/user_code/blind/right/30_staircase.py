"""Staircase noise (Geng and Viswanath) on block sums.

Privacy. With b = e^-eps and steps of width 1, the density is c b^k on [k, k + gamma) and c b^(k+1) on [k + gamma, k + 1)
for |x|, k = 0, 1, ... A shift by at most 1 goes down or up at most one step, a factor of at most e^eps. One reward
moves one of the block's sums by at most 1, and a block is released once. gamma = 1 / (1 + e^(eps/2)).
"""

import numpy as np

EPSILON = 1.0
B = np.exp(-EPSILON)
GAMMA = 1 / (1 + np.exp(EPSILON / 2))


def staircase(rng):
    sign = 1 if rng.random() < 0.5 else -1
    k = rng.geometric(1 - B) - 1
    u = rng.random()
    if rng.random() < GAMMA / (GAMMA + (1 - GAMMA) * B):
        return sign * (k + GAMMA * u)
    return sign * (k + GAMMA + (1 - GAMMA) * u)


def play(rewards, rng):
    T, K = rewards.shape
    block = 10
    estimate, leader = np.zeros(K), 0
    seq = np.zeros(T, dtype=int)
    for start in range(0, T, block):
        raw, n = np.zeros(K), np.zeros(K)
        for t in range(start, min(start + block, T)):
            a = t % K if (t - start) < block // 2 or start == 0 else leader
            seq[t] = a
            raw[a] += rewards[t, a]
            n[a] += 1
        noisy = raw + np.array([staircase(rng) for _ in range(K)])
        estimate = 0.5 * estimate + 0.5 * noisy / np.maximum(n, 1)
        leader = int(np.argmax(estimate))
    return seq
