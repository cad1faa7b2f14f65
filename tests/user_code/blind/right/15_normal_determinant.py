"""Re-ranking on all data with budgets eps/2, eps/4, eps/8, ...

Privacy. For independent standard normals A, B, C, D the determinant A D - B C is a standard Laplace variable (its characteristic
function is 1 / (1 + t^2)). Re-ranking number p = 1, 2, ... noises the cumulative sums of all arms with Laplace of
scale 2^p / eps, which is eps / 2^p -DP since one reward moves one sum by at most 1. A reward may be in all
re-rankings; the costs add up to less than eps.
"""

import numpy as np

EPSILON = 1.0


def laplace(scale, k, rng):
    a, b, c, d = rng.standard_normal((4, k))
    return scale * (a * d - b * c)


def play(rewards, rng):
    T, K = rewards.shape
    sums, pulls = np.zeros(K), np.zeros(K)
    best, p, next_rank = None, 0, 4 * K
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        a = t % K if best is None or t % 4 == 0 else best
        actions[t] = a
        sums[a] += rewards[t, a]
        pulls[a] += 1
        if t + 1 == next_rank:
            p += 1
            best = int(np.argmax((sums + laplace(2.0**p / EPSILON, K, rng)) / pulls))
            next_rank *= 2
    return actions
