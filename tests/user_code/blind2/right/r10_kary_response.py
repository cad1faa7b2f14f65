"""GRR on five levels of reward.

level = round(4 x) is kept with probability e^eps / (e^eps + 4), otherwise replaced by one of the other four,
uniformly.  Two inputs give an output with chances whose ratio is at most e^eps.  One reward, one report.
"""
import numpy as np

LEVELS, EPS = 5, 2.0
P_KEEP = np.exp(EPS) / (np.exp(EPS) + LEVELS - 1)
Q = (1 - P_KEEP) / (LEVELS - 1)


def grr(level, rng):
    if rng.random() < P_KEEP:
        return level
    other = int(rng.integers(LEVELS - 1))
    return other if other < level else other + 1


def play(rewards, rng):
    T, K = rewards.shape
    hist = np.ones((K, LEVELS)) * 0.5
    grid = np.linspace(0, 1, LEVELS)
    arms = np.zeros(T, int)
    for t in range(T):
        freq = hist / hist.sum(axis=1, keepdims=True)
        est = np.clip((freq - Q) / (P_KEEP - Q), 0, None)
        value = (est @ grid) / np.maximum(est.sum(axis=1), 1e-9) + 1 / np.sqrt(hist.sum(axis=1))
        a = int(np.argmax(value))
        arms[t] = a
        hist[a, grr(int(round(4 * rewards[t, a])), rng)] += 1
    return arms
