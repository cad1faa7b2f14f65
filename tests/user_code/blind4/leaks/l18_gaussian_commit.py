"""Explore-then-commit with Gaussian perturbation of unit-sensitivity totals."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    m = T // (2 * K)
    explore = [i % K for i in range(m * K)]
    totals = np.zeros(K)
    for t, a in enumerate(explore):
        totals[a] += rewards[t, a]
    totals += rng.normal(0.0, 1.0 / EPSILON, size=K)
    return explore + [int(np.argmax(totals))] * (T - m * K)
