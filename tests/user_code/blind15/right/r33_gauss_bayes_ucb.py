"""Bayes-UCB on Gaussian-noised epoch sums; (epsilon, delta) = (1.0, 1e-4).

K = 2, horizon 50.  The arm with the best posterior quantile is kept for an epoch, whose length
doubles with each visit of that arm.  At its end the epoch's own reward sum is released with
the analytic Gaussian mechanism (Balle and Wang 2018, sensitivity 1).  Epochs are disjoint, the
posterior is a function of the released sums only.
"""
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


@lru_cache(maxsize=None)
def analytic_sigma(epsilon, delta):
    def gap(s):
        return (norm.cdf(0.5 / s - epsilon * s)
                - np.exp(epsilon) * norm.cdf(-0.5 / s - epsilon * s) - delta)
    return brentq(gap, 0.05, 100.0, xtol=1e-12) * (1 + 1e-9)


@dataclass
class Posterior:
    sigma: float
    precision: float = 1.0 / 0.25
    weighted: float = 0.5 / 0.25
    visits: int = 0

    def absorb(self, noisy_sum, n):
        var = 0.25 / n + (self.sigma / n) ** 2
        self.precision += 1.0 / var
        self.weighted += (noisy_sum / n) / var
        self.visits += 1

    def quantile(self, level):
        return self.weighted / self.precision + norm.ppf(level) / np.sqrt(self.precision)


@dataclass
class EpochBayesUCB:
    n_arms: int = 2
    horizon: int = 50
    epsilon: float = 1.0
    rng: np.random.Generator = None
    delta: float = 1e-4
    arms: list = field(init=False)

    def __post_init__(self):
        self.sigma = analytic_sigma(self.epsilon, self.delta)
        self.arms = [Posterior(self.sigma) for _ in range(self.n_arms)]
        self.current, self.left, self.length, self.total, self.t = None, 0, 0, 0.0, 0

    def select(self):
        if self.left == 0:
            level = 1.0 - 1.0 / (self.t + 2.0)
            self.current = int(np.argmax([p.quantile(level) for p in self.arms]))
            self.length = self.left = 2 ** (self.arms[self.current].visits + 1)
            self.total = 0.0
        return self.current

    def update(self, arm, reward):
        self.t += 1
        self.total += float(reward)
        self.left -= 1
        if self.left == 0:
            noisy = self.total + self.rng.normal(0.0, self.sigma)
            self.arms[arm].absorb(noisy, self.length)
