"""Cumulative totals released after 3, 6, 12, 24 rounds with budgets eps/2, eps/4, ...

A reward is in every later release; a release with budget e has noise 1/e and one total that moves by 1. The budgets sum to less
than epsilon.
"""

import numpy as np


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    totals, pulls = np.zeros(k), np.zeros(k)
    leader, budget, release_at = None, epsilon / 2, k
    actions = []
    for t in range(horizon):
        arm = t % k if leader is None or t % 3 == 0 else leader
        if leader is not None and t % 3 == 0:
            arm = (t // 3) % k
        totals[arm] += rewards[t, arm]
        pulls[arm] += 1
        actions.append(arm)
        if t + 1 == release_at:
            noisy = (totals + rng.laplace(0, 1 / budget, k)) / np.maximum(pulls, 1)
            leader = int(noisy.argmax())
            budget /= 2
            release_at *= 2
    return actions
