"""Phases that look at a fifth of their rewards."""
import math

import numpy as np

EPSILON = 0.5
SHARE = 0.2
INNER = math.log(1 + (math.exp(EPSILON) - 1) / SHARE)


def play(rewards, rng):
    T, K = rewards.shape
    out = np.zeros(T, dtype=int)
    size = 40
    leader = None
    for lo in range(0, T, size):
        hi = min(T, lo + size)
        arms = np.arange(hi - lo) % 2
        if leader is not None:
            arms[(hi - lo) // 2:] = leader
        m = int(SHARE * (hi - lo))
        sample = slice(0, m)
        got = rewards[lo + np.arange(m), arms[sample]]
        diff = np.where(arms[sample] == 1, got, -got).sum()
        leader = int(diff + rng.laplace(0, 1 / INNER) > 0)
        arms[(hi - lo) // 2:] = leader
        out[lo:hi] = arms
    return out
