"""Successive elimination, every epoch with samples of its own.

A reward counts in one mean of one epoch only (n samples, so it moves it by 1/n), and that mean gets Laplace noise of scale
1/(n epsilon). Who plays next follows from the noisy means. One release a reward: epsilon.
"""

import math


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    active, actions, n = list(range(k)), [], 2
    leader = 0
    while len(active) > 1 and len(actions) + n * len(active) <= horizon:
        totals = dict.fromkeys(active, 0.0)
        for _ in range(n):
            for arm in active:
                totals[arm] += rewards[len(actions), arm]
                actions.append(arm)
        means = {arm: totals[arm] / n + rng.laplace(0, 1 / (n * epsilon)) for arm in active}
        leader = max(means, key=means.get)
        width = 0.7 * math.sqrt(1 / n)
        active = [arm for arm in active if means[arm] > means[leader] - width]
        n *= 2
    actions += [leader] * (horizon - len(actions))
    return actions
