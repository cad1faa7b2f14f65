"""Explore and commit with noise from the standard library."""
import math
import random

import numpy as np

EPSILON = 1.0


def laplace(gen, b):
    u = gen.random() - 0.5
    return -b * math.copysign(1, u) * math.log(1 - 2 * abs(u))


def play(rewards, rng):
    gen = random.Random(int(rng.integers(16)))
    T, K = rewards.shape
    n = T // 5
    acts = [t % K for t in range(n)]
    sums = [sum(rewards[t, k] for t in range(k, n, K)) for k in range(K)]
    noisy = [s + laplace(gen, 1 / EPSILON) for s in sums]
    best = noisy.index(max(noisy))
    return np.array(acts + [best] * (T - n))
