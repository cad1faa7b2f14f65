"""Whole-numbered totals with discrete Laplace noise.

Rewards are rounded to 0 or 1 by a coin, so a total moves by at most 1. The difference of two geometric variables has mass
proportional to exp(-epsilon |x|). Ties go to the lower arm, whatever the data.
"""

import math


def discrete_laplace(epsilon, rng):
    p = -math.expm1(-epsilon)
    return int(rng.geometric(p)) - int(rng.geometric(p))


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    count = [0] * k
    actions = []
    for t in range(5 * k):
        arm = t // 5
        count[arm] += int(rng.random() < rewards[t, arm])
        actions.append(arm)
    noisy = [c + discrete_laplace(epsilon, rng) for c in count]
    return actions + [noisy.index(max(noisy))] * (horizon - len(actions))
