"""Boltzmann exploration over totals."""
import numpy as np

EPSILON = 0.5


def play(rewards, rng):
    T, K = rewards.shape
    totals = np.zeros(K)
    arms = np.empty(T, dtype=int)
    for t in range(T):
        p = np.exp(EPSILON * (totals - totals.max()))
        arms[t] = rng.choice(K, p=p / p.sum())
        totals[arms[t]] += rewards[t, arms[t]]
    return arms
