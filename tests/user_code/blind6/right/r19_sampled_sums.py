"""Phased greedy on sampled rewards."""
import math

import numpy as np

EPSILON = 0.7
RATE = 0.5
INNER = math.log1p(math.expm1(EPSILON) / RATE)


def sampled_total(values, rng):
    mask = rng.random(len(values)) < RATE
    return (float(np.dot(values, mask)) + rng.laplace(0, 1 / INNER)) / RATE


def play(rewards, rng):
    T, K = rewards.shape
    phase = 20
    actions = np.zeros(T, dtype=int)
    best = None
    for lo in range(0, T, phase):
        hi = min(T, lo + phase)
        idx = np.arange(lo, hi)
        arms = idx % K
        if best is not None:
            arms[(hi - lo) // 2:] = best
        actions[lo:hi] = arms
        half = idx[: (hi - lo) // 2]
        est = [sampled_total(rewards[half[half % K == k], k], rng) for k in range(K)]
        best = int(np.argmax(est))
    return actions
