"""EXP3-style: explore uniformly (importance-weighted gains), then draw the final arm with weights exp(eps * G)."""
import numpy as np


def play(rewards, rng):
    T, K = rewards.shape
    eps = 0.5
    p = np.full(K, 1 / K)
    G = np.zeros(K)
    arms = np.empty(T, dtype=int)
    for t in range(12):
        a = rng.choice(K, p=p)
        arms[t] = a
        G[a] += rewards[t, a] / p[a]
    w = np.exp(eps * (G - G.max()))
    arms[12:] = rng.choice(K, p=w / w.sum())
    return arms
