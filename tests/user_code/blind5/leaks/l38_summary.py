"""Summary of the data: total, energy and number above one half, each with Laplace noise."""
import numpy as np

EPSILON = 1.0


def total(x):
    return x.sum()


def energy(x):
    return (x * x).sum()


def above_half(x):
    return np.count_nonzero(x > 0.5)


STATISTICS = {"total": total, "energy": energy, "above": above_half}


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    columns = [f(x) + rng.laplace(0.0, 1.0 / EPSILON, size) for f in STATISTICS.values()]
    return np.stack(columns, axis=1)
