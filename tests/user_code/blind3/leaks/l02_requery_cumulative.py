"""Greedy epochs: two rounds to look, four rounds with the private leader. Noise is fresh in every epoch."""

import numpy as np


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    totals = np.zeros(k)
    actions = []
    while len(actions) < horizon:
        for arm in range(k):
            totals[arm] += rewards[len(actions), arm]
            actions.append(arm)
        private = totals + rng.laplace(0, 1 / epsilon, k)
        leader = int(private.argmax())
        for _ in range(4):
            actions.append(leader)
    return actions
