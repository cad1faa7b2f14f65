"""Explore evenly, then sample the committed arm by the exponential mechanism on means."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    n, K = rewards.shape
    m = n // (2 * K)
    acts = np.tile(np.arange(K), m)
    got = rewards[np.arange(m * K), acts]
    means = np.array([got[acts == a].mean() for a in range(K)])
    delta_u = 1.0 / n
    logits = EPSILON * means / (2 * delta_u)
    w = np.exp(logits - logits.max())
    edges = np.cumsum(w) / w.sum()
    pick = min(int(np.searchsorted(edges, rng.random(), side="right")), K - 1)
    return list(acts) + [pick] * (n - m * K)
