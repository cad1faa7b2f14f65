"""Exponential weights, one draw for each batch of 8 rounds.

There are 6 batches.  The first explores by turns, and so does the first half of each later one; the second half plays
one arm drawn with weights exp(eta * explored sum so far).  There are 5 draws; one sum moves by at most 1 in each:
eta = eps / 5 and basic composition give eps.
"""
import numpy as np


def play(rewards, rng):
    eps, batch = 2.0, 8
    T, K = rewards.shape
    n_batches = T // batch
    eta = eps / (n_batches - 1)
    gains = np.zeros(K)
    path = np.zeros(T, dtype=int)
    for b in range(n_batches):
        lo = b * batch
        n_explore = batch if b == 0 else batch // 2
        for j in range(n_explore):
            path[lo + j] = j % K
        if b > 0:
            weights = np.exp(eta * (gains - gains.max()))
            path[lo + n_explore:lo + batch] = np.flatnonzero(rng.multinomial(1, weights / weights.sum()))[0]
        for j in range(n_explore):
            gains[j % K] += rewards[lo + j, j % K]
    return path
