"""Mean score of a trial arm, with Laplace noise.

Fault: the scale is 1/(2 n EPSILON), half of what the sensitivity 1/n needs.
All zeros against one 1: means 0 and 1/n; event {release < 0}: P = 1/2 against exp(-2 EPSILON)/2,
a loss of 2 EPSILON = 2.0.
"""
import numpy as np

EPSILON = 1.0


def release_one(data, rng):
    n = len(data)
    return float(np.mean(data) + rng.laplace(0, 1 / (2 * n * EPSILON)))


release_one.neighbours = [(np.zeros(8), np.array([1.0] + [0.0] * 7))]
