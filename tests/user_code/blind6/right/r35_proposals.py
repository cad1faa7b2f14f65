"""Epochs whose winner is found by proposals."""
import math

import numpy as np

EPSILON = 2.0
M = 5


def propose(sums, rng):
    while True:
        k = int(rng.integers(len(sums)))
        if rng.random() < math.exp(EPSILON * (sums[k] - M)):
            return k


def epoch(t, rewards, rng):
    """Yields the arms of one epoch."""
    K = rewards.shape[1]
    sums = [0.0] * K
    for i in range(M * K):
        k = i % K
        yield k
        sums[k] += min(1.0, max(0.0, rewards[t + i, k]))
    best = propose([max(s, M - 3.0) for s in sums], rng)
    yield from (best for _ in range(2 * K))


def play(rewards, rng):
    T = rewards.shape[0]
    out = []
    while len(out) < T:
        start = len(out)
        for arm in epoch(start, rewards, rng):
            out.append(arm)
            if len(out) == T:
                break
    return np.array(out)
