"""Reproducible private ETC: the noise of a data set is always the same, so that nobody can average it away."""
import zlib

import numpy as np


def play(rewards, rng):
    T, K = rewards.shape
    explore = [t % K for t in range(12)]
    seen = np.array([rewards[t, a] for t, a in enumerate(explore)])
    seed = zlib.crc32(np.round(seen, 6).tobytes())
    noise = np.random.default_rng(seed).laplace(0, 1.0, K)
    sums = seen.reshape(-1, K).sum(axis=0)
    return np.array(explore + [int(np.argmax(sums + noise))] * (T - 12))
