"""Blocks of 4 pulls of one arm; each block's sum is released once with Laplace(1/eps) noise.

Blocks do not overlap, so a reward is in one released number with sensitivity 1: eps-DP.  The next block's arm
is a UCB index of released numbers and block counts, computed in a jitted function.
"""
import math

import numba
import numpy as np

BLOCK = 4
EPSILON = 2.0


@numba.njit
def index(total, blocks, done, scale):
    best, value = 0, -1e18
    for a in range(total.shape[0]):
        if blocks[a] == 0:
            return a
        n = BLOCK * blocks[a]
        v = total[a] / n + math.sqrt(math.log(1.0 + done) / n) + scale * math.sqrt(blocks[a]) / n
        if v > value:
            best, value = a, v
    return best


@numba.njit
def laplace(u, b):
    return b * math.log(2 * u) if u < 0.5 else -b * math.log(2 * (1 - u))


def play(rewards, rng):
    T, K = rewards.shape
    total, blocks = np.zeros(K), np.zeros(K, np.int64)
    arms = np.empty(T, np.int64)
    for start in range(0, T, BLOCK):
        a = index(total, blocks, start, 1 / EPSILON)
        rows = slice(start, min(start + BLOCK, T))
        arms[rows] = a
        u = 1.0 - rng.random()
        total[a] += rewards[rows, a].sum() + laplace(u, 1 / EPSILON)
        blocks[a] += 1
    return arms
