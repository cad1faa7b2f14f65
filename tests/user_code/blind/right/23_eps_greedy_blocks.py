"""Epsilon-greedy whose means come from noisy block sums.

Privacy (the budget is EPSILON; EXPLORE is the exploration rate). Every five rounds each arm's raw buffer is
released with Laplace noise of scale 1 / EPSILON and emptied. One reward is in one buffer and one release,
which it moves by at most 1. Numbers of pulls come from the actions, which are public anyway.
"""

import numpy as np

EPSILON = 1.0
EXPLORE = 0.15


def play(rewards, rng):
    T, K = rewards.shape
    noisy_total, released_pulls = np.zeros(K), np.zeros(K)
    buffer, buffer_pulls = np.zeros(K), np.zeros(K)
    actions = []
    for t in range(T):
        if t < K or rng.random() < EXPLORE:
            a = int(rng.integers(K))
        else:
            a = int(np.argmax(noisy_total / np.maximum(released_pulls, 1)))
        actions.append(a)
        buffer[a] += rewards[t, a]
        buffer_pulls[a] += 1
        if len(actions) % 5 == 0:
            noisy_total += buffer + rng.laplace(0, 1 / EPSILON, K)
            released_pulls += buffer_pulls
            buffer[:], buffer_pulls[:] = 0, 0
    return np.array(actions)
