"""Heavy-tailed noise: Cauchy with scale s = 1/eps.

|d/dx log f| = 2|x| / (s^2 + x^2) <= 1/s, so a shift of at most 1 changes log f by at most 1/s = eps.  Pure, no delta.
"""
import numpy as np


def play(rewards, rng):
    T, K = rewards.shape
    eps = 1.0
    explore = np.repeat(np.arange(K), 6)
    sums = rewards[np.arange(18), explore].reshape(K, 6).sum(1)
    noisy = sums + rng.standard_cauchy(K) / eps
    tail = np.full(T - 18, noisy.argmax())
    return np.concatenate([explore, tail])
