"""Two programs whose bounds faults of the search would get wrong."""

import numpy as np


def pick(data, rng):
    """Whose sum, clipped and with noise, is larger."""
    s = np.clip(data, 0, 1).sum(axis=0) + rng.laplace(0, 1.0, 2)
    return [int(np.argmax(s))] * len(data)


def gate(data, rng):
    return [int(data[:, 0].sum() + rng.laplace(0, 1.0) > data.shape[0] / 2)] * len(data)
