"""Integer pipeline: a reward is turned into a coin with that bias, coins are counted, counts get two-sided geometric
noise with ratio e^{-eps}.

Given all other coins, one coin changes one count by at most 1, so for each outcome of the coins the release is
eps-DP; averaging over the coins of the two neighbours (mix of two laws that are pairwise within e^eps) keeps it.
"""
import numpy as np


def two_sided_geometric(rng, eps, size):
    p = 1.0 - np.exp(-eps)
    return rng.geometric(p, size) - rng.geometric(p, size)


def play(rewards, rng):
    T, K = rewards.shape
    eps, n_phase, arms = 1.0, 0, []
    while len(arms) < T:
        cnt = np.zeros(K, dtype=np.int64)
        for j in range(8):
            a = j % K
            if len(arms) < T:
                cnt[a] += rng.random() < rewards[len(arms), a]
                arms.append(a)
        z = cnt + two_sided_geometric(rng, eps, K)
        good = np.flatnonzero(z == z.max())
        arms += [int(rng.choice(good))] * (2 ** n_phase)
        n_phase += 1
    return np.array(arms[:T])
