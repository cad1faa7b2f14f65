"""Gaussian Thompson sampling."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    n, s = np.zeros(K), np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        theta = rng.normal(s / (n + 1), 1 / np.sqrt(n + 1) / 2)
        a = int(theta.argmax())
        actions[t] = a
        n[a] += 1
        s[a] += rewards[t, a]
    return actions
