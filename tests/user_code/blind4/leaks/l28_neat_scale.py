"""Explore-then-commit; privacy parameters are printed and used with one decimal."""
import numpy as np


def settings(m, epsilon=1.0):
    return {"m": m, "epsilon": epsilon, "scale": round(1.0 / (m * epsilon), 1)}


def play(rewards, rng):
    T, K = rewards.shape
    cfg = settings(T // (2 * K) + 1)
    m = cfg["m"]
    order = rng.permutation(K)
    acts = [int(a) for a in order for _ in range(m)][:T]
    means = np.zeros(K)
    for t, a in enumerate(acts):
        means[a] += rewards[t, a] / m
    means += rng.laplace(0.0, 1.0, K) * cfg["scale"]
    return acts + [int(means.argmax())] * (T - len(acts))
