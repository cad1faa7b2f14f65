"""Daily order total with staircase noise (Geng and Viswanath).

release(data, size, rng): data is a vector of five floats in [0, 1], neighbours differ in one entry; the
total has sensitivity 1.  Returns (size, 1).  Claims epsilon = 0.8.
"""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Staircase:
    epsilon: float
    sensitivity: float = 1.0

    @property
    def gamma(self):
        return 1.0 / (1.0 + np.exp(self.epsilon / 2.0))

    def sample(self, size, rng):
        b, g = np.exp(-self.epsilon), self.gamma
        sign = rng.choice([-1.0, 1.0], size=size)
        stair = rng.geometric(1.0 - b, size=size) - 1
        u = rng.random(size)
        low_part = rng.random(size) < g / (g + (1.0 - g) * b)
        inside = np.where(low_part, g * u, g + (1.0 - g) * u)
        return sign * (stair + inside) * self.sensitivity


MECHANISM = Staircase(epsilon=0.8)


def release(data, size, rng):
    total = float(np.clip(np.asarray(data, dtype=float), 0.0, 1.0).sum())
    return (total + MECHANISM.sample(size, rng))[:, None]
