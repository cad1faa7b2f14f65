"""Explore-then-commit; clear winners are committed to directly, close races get noise."""
import numpy as np

EPS = 1.0
CLEAR = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    m = 12
    totals, acts = np.zeros(K), []
    for t in range(m * K):
        totals[t % K] += rewards[t, t % K]
        acts.append(t % K)
    ranked = np.sort(totals)
    if ranked[-1] - ranked[-2] < CLEAR:
        totals = totals + rng.laplace(0, 1 / EPS, K)
    return acts + [int(np.argmax(totals))] * (T - m * K)
