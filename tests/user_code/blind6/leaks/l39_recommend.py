"""Phased greedy; the last round is the recommendation."""
import numpy as np

EPSILON = 1.0
PHASE = 15


def play(rewards, rng):
    T, K = rewards.shape
    totals, fresh = np.zeros(K), np.zeros(K)
    noisy = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T - 1):
        if t % PHASE == 0 and t:
            noisy += fresh + rng.laplace(0, 1 / EPSILON, K)
            fresh[:] = 0
        arm = t % K if t < PHASE or t % 2 else int(noisy.argmax())
        actions[t] = arm
        if t < PHASE or t % 2:
            fresh[arm] += rewards[t, arm]
            totals[arm] += rewards[t, arm]
    actions[T - 1] = int(totals.argmax())
    return actions
