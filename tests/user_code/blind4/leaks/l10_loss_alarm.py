"""Plays the default arm until a noisy running loss passes a limit, then switches for good."""
import numpy as np

EPSILON = 1.0
LIMIT = 2.0


def above(query, limit, rng):
    return query + rng.laplace(0.0, 2.0 / EPSILON) > limit


def play(rewards, rng):
    T, K = rewards.shape
    loss, arm = 0.0, 0
    out = np.zeros(T, dtype=int)
    for t in range(T):
        out[t] = arm
        if arm == K - 1:
            continue
        loss += 1.0 - rewards[t, arm]
        if t % 2 == 1 and above(loss, LIMIT, rng):
            arm += 1
            loss = 0.0
    return out
