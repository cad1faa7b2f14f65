"""Explore, then commit; rewards are centred to [-1/2, 1/2] and the sensitivity is taken for 1/2.

Leak. Centring does not make the interval narrower: one reward still moves a sum by 1, and noise of scale 1
/ (2 EPSILON) gives 2 EPSILON. Worst pair: one arm pays all the time, the other never but for one round; the
loser wins through both tails, and the ratio is e^2 (1 + 19/2 / ...) ~ e^1.9 for a claim of 1.
"""

import math

import numpy as np

EPSILON = 1.0
SENSITIVITY = 0.5


def sampler(rng, scale):
    def inverse_cdf():
        p = rng.random()
        return scale * math.log(2 * p) if 0 < p < 0.5 else -scale * math.log(2 * (1 - p))

    return inverse_cdf


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = min(horizon, 10 * n_arms)
    noise = sampler(rng, SENSITIVITY / EPSILON)
    sums = [noise() for _ in range(n_arms)]
    for t in range(explore):
        sums[t % n_arms] += rewards[t, t % n_arms] - 0.5
    winner = max(range(n_arms), key=sums.__getitem__)
    return np.array([t % n_arms if t < explore else winner for t in range(horizon)])
