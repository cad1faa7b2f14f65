"""Softmax over totals in every round.

A reward moves the total of one arm by 1 in all later draws. With weights exp(eta total) each draw costs at most eta, since only
one weight moves. There are T - 1 later draws, so eta = epsilon / (T - 1).
"""

import math


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    eta = epsilon / (horizon - 1)
    totals = [0.0] * k
    actions = []
    for t in range(horizon):
        w = [math.exp(eta * s) for s in totals]
        u, arm = rng.random() * sum(w), 0
        while arm < k - 1 and u >= w[arm]:
            u -= w[arm]
            arm += 1
        totals[arm] += rewards[t, arm]
        actions.append(arm)
    return actions
