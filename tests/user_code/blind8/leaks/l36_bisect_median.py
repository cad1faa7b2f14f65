"""Median by three steps of noisy bisection.

FAULT: every step compares its own count #{x >= middle} with n / 2 under Laplace(1 / EPSILON) noise; the three steps ask
about the same entries, so they cost EPSILON each, 3 EPSILON in all, not EPSILON once.
Pair: (0, 1, 0, 0) against (1, 1, 0, 0).  Event: right, right, right (0.9375 is released): counts 1 against 2 at the bar
2 in each step: 0.125 e^(-3 EPSILON) = 0.0207 against 0.125, loss 1.8 (claim 0.6).
"""
import numpy as np

EPSILON = 0.6


def release_one(data, rng):
    n = len(data)

    def descend(low, high, depth):
        middle = (low + high) / 2
        if depth == 0:
            return middle
        upper = sum(1 for x in data if x >= middle) + rng.laplace(0, 1 / EPSILON)
        return descend(middle, high, depth - 1) if upper > n / 2 else descend(low, middle, depth - 1)

    return descend(0.0, 1.0, 3)


release_one.neighbours = [(np.array([0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0]))]
