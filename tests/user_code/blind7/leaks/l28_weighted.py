"""Importance-weighted sums from a randomised exploration, with noise for sensitivity 1.

Leak. A reward of an arm that is pulled with probability 0.1 counts ten times, and the noise of scale 1 /
EPSILON does not know that. Worst pair: a rare arm is pulled once and earns 0 or 1, while the favourite's
weighted sum is 20: that the rare arm wins has a log ratio of at least 4.4 (a tail of a difference of
Laplace noises, moved by 10) for a claim of 0.5.
"""

import numpy as np

EPSILON = 0.5


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    chances = np.full(n_arms, 0.1)
    chances[0] = 1 - chances[1:].sum()
    explore = horizon // 2
    estimate = np.zeros(n_arms)
    actions = []
    for t in range(explore):
        arm = int(rng.choice(n_arms, p=chances))
        estimate[arm] += rewards[t, arm] / chances[arm]
        actions.append(arm)
    best = int(np.argmax(estimate + rng.laplace(0, 1 / EPSILON, n_arms)))
    return np.array(actions + [best] * (horizon - explore))
