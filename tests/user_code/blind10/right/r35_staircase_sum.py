"""Sum of the entries with the staircase mechanism (Geng and Viswanath 2014), sensitivity 1.

The density is a(gamma) e^{-k EPSILON} on |x| in [k, k + gamma) and a(gamma) e^{-(k+1) EPSILON} on [k + gamma, k + 1).
If |x| moves by at most 1 then its step falls or rises by at most one, so the densities of x and of x + d, |d| <= 1, are
within a factor e^EPSILON everywhere.  Replacing one entry of [0, 1] moves the sum by at most 1.  Tight at d = 1.
The sampler is Algorithm 1 of the paper: sign, geometric step, uniform place, and the part of the step (low or high).
"""
import math

import numpy as np

EPSILON = 0.8


def staircase(size, eps, rng):
    b = math.exp(-eps)
    gamma = 1 / (1 + math.exp(eps / 2))
    sign = rng.choice((-1.0, 1.0), size=size)
    step = rng.geometric(1 - b, size=size) - 1
    place = rng.random(size)
    tall = rng.random(size) < gamma / (gamma + (1 - gamma) * b)
    inside = np.where(tall, gamma * place, gamma + (1 - gamma) * place)
    return sign * (step + inside)


def release(data, size, rng):
    return float(np.sum(data)) + staircase(size, EPSILON, rng)


release.neighbours = [
    (np.array([0.0, 0.4, 0.9, 0.2, 0.7, 0.5]), np.array([1.0, 0.4, 0.9, 0.2, 0.7, 0.5])),
]
