"""Sliding-window UCB on locally Gaussian-noised rewards.

Every reward is noised once, on arrival, with the analytic Gaussian calibration
(Balle and Wang) for sensitivity 1; the window holds only noisy values.
Claim: (epsilon, delta) with epsilon = 1.0 and delta = 1e-4.
"""
from collections import deque
from dataclasses import dataclass, field
import math
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

DELTA = 1e-4


def gaussian_delta(sigma, eps):
    a, b = 0.5 / sigma, eps * sigma
    return norm.cdf(a - b) - math.exp(eps) * norm.cdf(-a - b)


def calibrate(eps, delta):
    sigma = brentq(lambda s: gaussian_delta(s, eps) - delta, 0.05, 200.0, xtol=1e-10)
    return sigma * (1 + 1e-6)


@dataclass
class WindowUCB:
    n_arms: int = 2
    horizon: int = 40
    epsilon: float = 1.0
    rng: np.random.Generator = None
    window: int = 16
    memory: deque = field(init=False)
    sigma: float = field(init=False)

    def __post_init__(self):
        self.memory = deque(maxlen=self.window)
        self.sigma = calibrate(self.epsilon, DELTA)

    def select(self):
        counts = [0] * self.n_arms
        sums = [0.0] * self.n_arms
        for arm, value in self.memory:
            counts[arm] += 1
            sums[arm] += value
        if 0 in counts:
            return counts.index(0)
        log_t = math.log(len(self.memory) + 1)
        index = [s / c + math.sqrt(0.5 * log_t / c) for s, c in zip(sums, counts)]
        return max(range(self.n_arms), key=index.__getitem__)

    def update(self, arm, reward):
        self.memory.append((arm, reward + self.sigma * self.rng.standard_normal()))
