"""Discounted greedy bandit on subsampled, noised rewards.

With probability Q a reward is kept; otherwise the neutral value 1/2 takes its
place.  Either way the same Laplace noise is added, so the coin stays hidden.
With inner level e0 the mixture costs
    log (Q e^{e0/2} + 1 - Q) / (Q e^{-e0/2} + 1 - Q),
and e0 is solved so that this equals epsilon.  Claim: epsilon (default 1.0), pure.
"""
import numpy as np
from scipy.optimize import brentq

Q = 0.7


def mixture_cost(e0, q=Q):
    up = q * np.exp(e0 / 2) + 1 - q
    down = q * np.exp(-e0 / 2) + 1 - q
    return float(np.log(up / down))


def inner_level(epsilon, q=Q):
    return brentq(lambda e: mixture_cost(e, q) - epsilon, 1e-9, 60.0, xtol=1e-12) * (1 - 1e-9)


class HiddenCoinGreedy:
    DISCOUNT = 0.9

    def __init__(self, n_arms=3, horizon=30, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.rng = rng
        self.scale = 1.0 / inner_level(epsilon)
        self.weight = np.zeros(n_arms)
        self.total = np.zeros(n_arms)
        self.t = 0

    def choose(self):
        if self.t < self.n_arms:
            return self.t
        if self.rng.random() < 0.05:
            return int(self.rng.integers(self.n_arms))
        return int(np.argmax(self.total / self.weight))

    def learn(self, arm, reward):
        kept = reward if self.rng.random() < Q else 0.5
        report = kept + self.rng.laplace(0.0, self.scale)
        self.weight *= self.DISCOUNT
        self.total *= self.DISCOUNT
        self.weight[arm] += 1.0
        self.total[arm] += report
        self.t += 1
