"""Doubling phases; statistics of all phases are pooled after each phase's release."""
import numpy as np

EPS = 1.0


def noise(rng, b):
    return rng.exponential(b) - rng.exponential(b)


def play(rewards, rng):
    T, K = rewards.shape
    pooled, pulls = np.zeros(K), np.zeros(K)
    acts, length, leader = [], 2, 0
    while len(acts) < T:
        for arm in range(K):
            n = min(length, T - len(acts))
            if n <= 0:
                break
            rows = slice(len(acts), len(acts) + n)
            batch = rewards[rows, arm].sum()
            acts += [arm] * n
            pooled[arm] += batch + noise(rng, 1 / EPS)
            pulls[arm] += n
        leader = int(np.argmax(pooled / np.maximum(pulls, 1)))
        acts += [leader] * max(0, min(2 * length, T - len(acts)))
        length *= 2
    return acts
