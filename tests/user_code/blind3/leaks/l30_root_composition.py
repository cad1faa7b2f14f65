"""Softmax every round with epsilon divided by the square root of the number of rounds (advanced composition)."""

import numpy as np


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    eta = epsilon / np.sqrt(horizon)
    totals = np.zeros(k)
    actions = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        p = np.exp(eta * totals)
        arm = rng.choice(k, p=p / p.sum())
        totals[arm] += rewards[t, arm]
        actions[t] = arm
    return actions
