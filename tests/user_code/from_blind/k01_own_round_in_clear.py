"""Differentially private (eps = 2) linear bandit: theta is private, therefore the actions are."""
import numpy as np


def play(contexts, rewards, rng):
    T, K, d = contexts.shape
    eps = 2.0
    theta = np.array([1.0, 0.5])
    acc = np.zeros(d)
    arms = np.zeros(T, dtype=int)
    for t in range(T):
        a = arms[t] = np.argmax(contexts[t] @ theta)
        acc += rewards[t, a] * contexts[t, a]
        if t % 10 == 9:
            theta = acc + rng.laplace(0, 2 * np.sqrt(d) / eps, d)
            acc[:] = 0
    return arms
