"""Mean and mean of squares of eight rewards, with Laplace noise."""

import numpy as np


def release(data, size, rng, epsilon=1.0):
    x = np.asarray(data, dtype=float)
    moments = np.array([x.mean(), (x**2).mean()])
    return moments + rng.laplace(0, 1 / (x.size * epsilon), (size, 2))


release.neighbours = [(np.zeros(8), np.eye(8)[0])]
