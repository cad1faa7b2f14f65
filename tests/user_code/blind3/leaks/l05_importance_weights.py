"""Unbiased estimates of what each arm pays, noised and compared after a phase of exploring.

The second arm is rarely tried, so its rewards are weighted by the inverse of its chance.
"""

import numpy as np

CHANCE = np.array([0.8, 0.2])


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    explore = 20
    estimates = np.zeros(k)
    actions = []
    for t in range(explore):
        arm = int(rng.random() < CHANCE[1])
        estimates[arm] += rewards[t, arm] / CHANCE[arm]
        actions.append(arm)
    noisy = estimates + rng.laplace(0, 1 / epsilon, k)
    return actions + [int(np.argmax(noisy))] * (horizon - explore)
