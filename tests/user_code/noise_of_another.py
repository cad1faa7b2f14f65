"""A generator that another module draws from."""

import numpy as np

rng = np.random.default_rng()


def draw(size):
    return rng.laplace(0, 1, size)


def unused(size):
    return np.random.laplace(0, 1, size)  # noqa: NPY002
