"""EXP3 over one-bit (two-point) unbiased reward reports."""
import numpy as np

EPS = 1.0
C = (np.exp(EPS) + 1) / (np.exp(EPS) - 1)


def one_bit(x, rng):
    z = 2 * x - 1
    up = 0.5 + z / (2 * C)
    return C if rng.random() < up else -C


def play(rewards, rng):
    T, K = rewards.shape
    G = np.zeros(K)
    eta = np.sqrt(2 * np.log(K) / (T * K)) / C
    out = []
    for t in range(T):
        w = np.exp(eta * (G - G.max()))
        p = 0.95 * w / w.sum() + 0.05 / K
        a = int(np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right"))
        a = min(a, K - 1)
        out.append(a)
        y = (one_bit(rewards[t, a], rng) + 1) / 2
        G[a] += y / p[a]
    return out
