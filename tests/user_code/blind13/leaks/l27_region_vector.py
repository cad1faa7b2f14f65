"""Regional conversion vector with Gaussian noise.

release(data, size, rng): data is a vector of five floats in [0, 1] (one per region), neighbours differ
in one entry, so the L2 sensitivity of the vector is 1.  Gaussian mechanism with
sigma = sqrt(2 ln(1.25/delta)) / epsilon in every coordinate.  Returns (size, 5).
Claims (epsilon, delta) = (1.0, 1e-4).
"""
from dataclasses import dataclass
import math

import numpy as np


@dataclass(frozen=True)
class PrivacySpec:
    epsilon: float = 1.0
    delta: float = 1e-4
    l2: float = 1.0

    def sigma(self):
        return self.l2 * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon


def gaussian_vector(mean, sigma, size, rng):
    return rng.multivariate_normal(mean, sigma * np.eye(len(mean)), size=size, method="cholesky")


def release(data, size, rng):
    regions = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    return gaussian_vector(regions, PrivacySpec().sigma(), size, rng)
