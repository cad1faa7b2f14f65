"""Rejection sampling of the exponential mechanism.

Propose an arm, accept with chance exp(epsilon (total - n)/2), until one is accepted: chances are proportional to
exp(epsilon total/2), and totals have sensitivity 1. How many proposals were made is not seen.
"""

import math


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    n = 3
    totals = [sum(rewards[a * n + i, a] for i in range(n)) for a in range(k)]
    actions = [a for a in range(k) for _ in range(n)]
    while True:
        arm = int(rng.integers(k))
        if rng.random() <= math.exp(epsilon * (totals[arm] - n) / 2):
            break
    return actions + [arm] * (horizon - k * n)
