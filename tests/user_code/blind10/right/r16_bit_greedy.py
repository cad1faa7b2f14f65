"""Epsilon-greedy fed only by randomised-response bits of the rewards.

P(bit 1 | x) = q + (p - q) x in [q, p], p/q = e^eps: each bit is eps-private.
Each reward gives one bit; actions are post-processing of bits and fresh coins.
"""
import numpy as np

EPSILON = 1.5


def play(rewards, rng):
    T, K = rewards.shape
    p = 1 / (1 + np.exp(-EPSILON))
    s, n = np.ones(K), np.full(K, 2.0)
    out = np.empty(T, dtype=int)
    for t in range(T):
        a = int(rng.integers(K)) if rng.random() < 0.1 else int(np.argmax(s / n))
        s[a] += rng.random() < (1 - p) + (2 * p - 1) * rewards[t, a]
        n[a] += 1
        out[t] = a
    return out
