"""The best of ten rewards, released with Laplace noise of scale 1/(n epsilon)."""

import numpy as np


def release_one(data, rng, epsilon=0.5):
    x = np.asarray(data)
    return float(x.max() + rng.laplace(0, 1 / (len(x) * epsilon)))


release_one.neighbours = [(np.zeros(10), np.eye(10)[4])]
