"""Private mean and variance of a bounded sample from two noisy moments."""
import numpy as np

EPS = 1.0


def release(data, rng):
    x = np.clip(np.asarray(data, dtype=float), 0, 1)
    n = x.size
    share = EPS / 2
    first = (x.sum() + rng.laplace(0, 1 / share)) / n
    second = ((x ** 2).sum() + rng.laplace(0, 1 / share)) / n
    return float(first), float(max(second - first ** 2, 0.0))
