"""Horizon-free budget: decision j = 1, 2, ... gets eps_j = eps * 6 / (pi^2 j^2); these add up to eps.

The data are NOT forgotten: decision j looks at all sums of explored rounds so far with fresh Laplace(1/eps_j) noise.
A reward may be in all of them, at cost sum eps_j <= eps.  Laplace(1) = N1 N2 + N3 N4 (characteristic function
1/(1+w^2)).
"""
import numpy as np


def laplace(rng, scale, size):
    n = rng.normal(size=(4, size))
    return scale * (n[0] * n[1] + n[2] * n[3])


def play(rewards, rng):
    eps = 2.0
    T, K = rewards.shape
    S = np.zeros(K)
    a_log = []
    j = 0
    while len(a_log) < T:
        for i in range(3 * K):
            if len(a_log) < T:
                a = i % K
                S[a] += rewards[len(a_log), a]
                a_log.append(a)
        j += 1
        eps_j = 6 * eps / (np.pi * j) ** 2
        leader = int(np.argmax(S + laplace(rng, 1 / eps_j, K)))
        a_log += [leader] * (2 * K)
    return np.array(a_log[:T])
