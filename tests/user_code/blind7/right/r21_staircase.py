"""Explore then commit with staircase noise.

Right. The staircase density (Geng and Viswanath 2014) with sensitivity 1 falls by the factor e^-eps from
one step of width 1 to the next, so that shifting it by up to 1 changes it by at most e^eps. The sampler is
their algorithm: a sign, a geometric number of whole steps, a bit for the part of the step, and a uniform
place in it. The sums are used once.
"""

import math
import random

import numpy as np

EPSILON = 1.2
GAMMA = 1 / (1 + math.exp(EPSILON / 2))


def staircase(coin):
    b = math.exp(-EPSILON)
    sign = coin.choice((-1, 1))
    steps = 0
    while coin.random() < b:
        steps += 1
    inner = coin.random() < GAMMA / (GAMMA + (1 - GAMMA) * b)
    u = coin.random()
    place = GAMMA * u if inner else GAMMA + (1 - GAMMA) * u
    return sign * (steps + place)


def play(rewards, rng):
    coin = random.Random(int(rng.integers(1 << 62)))
    horizon, n_arms = rewards.shape
    arms = [t % n_arms for t in range(min(horizon, 6 * n_arms))]
    sums = dict.fromkeys(range(n_arms), 0.0)
    for t, arm in enumerate(arms):
        sums[arm] += rewards[t, arm]
    noisy = {arm: total + staircase(coin) for arm, total in sums.items()}
    winner = max(noisy, key=noisy.get)
    return np.array(arms + [winner] * (horizon - len(arms)))
