"""Rewards are scored in points (three for a full success); staircase noise hides the totals."""

import math


def staircase(epsilon, rng):
    b = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    step = rng.geometric(1 - b) - 1
    u = rng.random()
    if rng.random() < gamma / (gamma + (1 - gamma) * b):
        x = step + gamma * u
    else:
        x = step + gamma + (1 - gamma) * u
    return x if rng.random() < 0.5 else -x


def play(rewards, rng, epsilon=1.0):
    points = 3 * rewards
    totals = [0.0, 0.0]
    actions = []
    for t in range(10):
        totals[t % 2] += points[t, t % 2]
        actions.append(t % 2)
    noisy = [x + staircase(epsilon, rng) for x in totals]
    return actions + [int(noisy[1] > noisy[0])] * (len(rewards) - 10)
