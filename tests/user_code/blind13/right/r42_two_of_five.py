"""Sum of a secret sample of two of the five values.

Claim: epsilon = 1 (pure).  data: five floats in [0, 1], neighbours differ in one entry.
Two entries are drawn without replacement (fresh for each release), the sum gets Laplace(1 / eps0) noise with
eps0 = log(1 + (e^eps - 1) * 5 / 2), which sampling takes down to eps for replaced entries.
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
SAMPLE = 2


def amplified(epsilon, rate):
    return np.log1p(np.expm1(epsilon) / rate)


def release(data, size, rng):
    values = np.asarray(data, dtype=float)
    eps0 = amplified(EPSILON, SAMPLE / values.size)
    keys = rng.random((size, values.size))
    sample = np.argpartition(keys, SAMPLE, axis=1)[:, :SAMPLE]
    noise = stats.laplace.rvs(scale=1.0 / eps0, size=size, random_state=rng)
    return values[sample].sum(axis=1) + noise
