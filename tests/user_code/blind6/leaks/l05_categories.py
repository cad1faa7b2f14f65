"""Reward level decides the next arm."""
import math

import numpy as np

EPSILON = 1.0
KEEP = math.exp(EPSILON) / (math.exp(EPSILON) + 1)


def randomise(level, k, rng):
    if rng.random() < KEEP:
        return level
    other = int(rng.integers(k - 1))
    return other + (other >= level)


def play(rewards, rng):
    T, K = rewards.shape
    arm = 0
    out = []
    for t in range(T):
        out.append(arm)
        level = min(int(rewards[t, arm] * K), K - 1)
        arm = (arm + randomise(level, K, rng)) % K
    return np.array(out)
