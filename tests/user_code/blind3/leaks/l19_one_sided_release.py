"""How many of ten rewards are above a half, with geometric noise."""

import numpy as np


def release(data, size, rng, epsilon=1.0):
    count = int((np.asarray(data) > 0.5).sum())
    return count + rng.geometric(1 - np.exp(-epsilon), size) - 1


release.neighbours = [(np.zeros(10), np.eye(10)[0])]
