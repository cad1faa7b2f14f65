"""Running totals of side effects, each with Laplace noise.

Fault: the first entry is in all six totals, the budget counts it once. Zeros against a first 1:
event {all totals < 0}: 2^-6 against (exp(-EPSILON)/2)^6, a loss of 6 EPSILON = 3.0.
"""
import numpy as np

EPSILON = 0.5


def release_one(data, rng):
    return np.cumsum(data) + rng.laplace(0, 1 / EPSILON, size=len(data))


release_one.neighbours = [(np.zeros(6), np.array([1.0] + [0.0] * 5))]
