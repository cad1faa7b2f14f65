"""A window of five rewards, with new noise in every round and a factor of two for its two ends.

Leak. A reward enters a window and leaves it, so the author doubled the noise. But it is in five windows,
and each has its own draw of scale 2 / EPSILON: 2.5 times the claim. Worst pair: one reward 1 or 0, all
others 0; staying (income above 1) five times in a row.
"""

from collections import deque

import numpy as np

EPSILON = 0.8


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    income = deque(maxlen=5)
    arm, actions = 0, []
    for t in range(horizon):
        if t and sum(income) + rng.laplace(0, 2 / EPSILON) <= 1.0:
            arm = (arm + 1) % n_arms
        income.append(rewards[t, arm])
        actions.append(arm)
    return np.array(actions)
