"""Staircase noise on the totals of an exploring phase.

The staircase density for sensitivity 1 with gamma = 1/(1 + exp(epsilon/2)) falls by exp(-epsilon) a step of width 1, so a shift
by at most 1 costs epsilon; a reward moves one total.
"""

import math


def staircase(epsilon, rng):
    b = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    sign = 1 if rng.random() < 0.5 else -1
    g = int(rng.geometric(1 - b)) - 1
    u = rng.random()
    inner = rng.random() < gamma / (gamma + (1 - gamma) * b)
    return sign * (g + gamma * u if inner else g + gamma + (1 - gamma) * u)


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    totals = [0.0] * k
    actions = [t % k for t in range(10)]
    for t, a in enumerate(actions):
        totals[a] += rewards[t, a]
    noisy = [s + staircase(epsilon, rng) for s in totals]
    return actions + [noisy.index(max(noisy))] * (horizon - 10)
