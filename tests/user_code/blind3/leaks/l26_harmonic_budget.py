"""Cumulative totals released ten times; later releases spend less, epsilon/i in the i-th."""

import numpy as np


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    totals = np.zeros(k)
    actions = []
    i = 0
    while len(actions) < horizon:
        i += 1
        for arm in range(k):
            totals[arm] += rewards[len(actions), arm]
            actions.append(arm)
        spend = epsilon / i
        leader = np.argmax(totals + rng.laplace(0, 1 / spend, k))
        actions.extend([int(leader)] * 4)
    return actions[:horizon]
