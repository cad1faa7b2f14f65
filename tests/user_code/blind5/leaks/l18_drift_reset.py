"""Noisy greedy play with a restart whenever the current arm drifts."""
import numpy as np

EPSILON = 2.0
WINDOW = 4
JUMP = 0.5


def drifted(history):
    if len(history) < 2 * WINDOW:
        return False
    old, new = history[-2 * WINDOW:-WINDOW], history[-WINDOW:]
    return abs(np.mean(new) - np.mean(old)) > JUMP


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms = []
    while len(arms) < horizon:
        sums = np.zeros(n_arms)
        for arm in range(n_arms):
            for _ in range(3):
                if len(arms) < horizon:
                    sums[arm] += rewards[len(arms), arm]
                    arms.append(arm)
        arm = int(np.argmax(sums + rng.laplace(0.0, 1.0 / EPSILON, n_arms)))
        history = []
        while len(arms) < horizon and not drifted(history):
            history.append(rewards[len(arms), arm])
            arms.append(arm)
    return arms
