"""Epsilon-greedy on five-level rewards reported through k-ary randomised response."""
import numpy as np

EPSILON = 2.0
LEVELS = 5


def report(x, rng):
    level = min(int(x * LEVELS), LEVELS - 1)
    keep = np.exp(EPSILON) / (np.exp(EPSILON) + LEVELS - 1)
    if rng.random() < keep:
        return level
    other = rng.integers(LEVELS - 1)
    return int(other + (other >= level))


def play(rewards, rng):
    T, K = rewards.shape
    counts = np.zeros((K, LEVELS))
    values = (np.arange(LEVELS) + 0.5) / LEVELS
    arms = []
    for t in range(T):
        if t < K:
            a = t
        elif rng.random() < 0.1:
            a = int(rng.integers(K))
        else:
            a = int(np.argmax(counts @ values / counts.sum(axis=1)))
        arms.append(a)
        counts[a, report(rewards[t, a], rng)] += 1
    return arms
