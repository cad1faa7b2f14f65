"""Explore and commit with private means; the noise is calibrated to the number of rounds."""

import numpy as np


def play(rewards, rng, epsilon=0.5):
    horizon, k = rewards.shape
    n = 6
    means = np.zeros(k)
    actions = []
    for t in range(n * k):
        arm = t % k
        means[arm] += rewards[t, arm] / n
        actions.append(arm)
    means += rng.laplace(0, 1 / (horizon * epsilon), k)
    return actions + [int(means.argmax())] * (horizon - n * k)
