"""Mean of twelve rewards: a replaced entry moves it by 1/12, noise of scale 1/(12 epsilon)."""

import numpy as np


def release(data, size, rng, epsilon=1.0):
    values = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    return values.mean() + rng.laplace(0.0, 1.0 / (values.size * epsilon), size)


release.neighbours = [(np.zeros(12), np.eye(12)[3]), (np.ones(12), 1 - np.eye(12)[0])]
