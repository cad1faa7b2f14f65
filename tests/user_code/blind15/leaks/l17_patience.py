"""Patience bandit: stay with an arm until its cumulative loss passes a noisy patience level.

Claims epsilon = 1, pure (sparse vector technique: the answers "stay" are free, each "leave" is paid by a fresh
Laplace(1/epsilon) on the level and uses only the rewards of its own visit).
"""
import numpy as np

EPSILON = 1.0
PATIENCE = 4.0


def visits(K):
    arm = 0
    while True:
        yield arm % K
        arm += 1


def play(rewards, rng):
    T, K = rewards.shape
    order = visits(K)
    actions = []
    arm, loss, level = next(order), 0.0, PATIENCE + rng.laplace(0, 1 / EPSILON)
    for t in range(T):
        actions.append(arm)
        loss += 1.0 - rewards[t, arm]
        if loss >= level:
            arm, loss = next(order), 0.0
            level = PATIENCE + rng.laplace(0, 1 / EPSILON)
    return np.array(actions)
