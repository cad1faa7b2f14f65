"""Explore-then-commit with Laplace noise on the sums.

Privacy: the exploration schedule is fixed, so a change of one round's rewards moves one of the three sums
by at most 1.  Each sum gets Laplace(1/eps), so the noisy vector is eps-DP; what follows is a function of it.
"""
import numpy as np

EPS = 1.0
PULLS = 5


def play(rewards, rng):
    T, K = rewards.shape
    arms = np.empty(T, dtype=int)
    sums = np.zeros(K)
    for t in range(PULLS * K):
        a = t % K
        arms[t] = a
        sums[a] += rewards[t, a]
    noisy = sums + rng.laplace(0.0, 1.0 / EPS, size=K)
    arms[PULLS * K:] = np.argmax(noisy)
    return arms
