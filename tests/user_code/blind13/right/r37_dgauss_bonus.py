"""Bonus-round bandit with discrete Gaussian counts.

Claim: (epsilon, delta) = (1, 1e-4).  Arms are tried in turn.  A try takes six rewards, rounds each to a bit at
random, adds discrete Gaussian noise to the count of ones, and the arm gets that many bonus rounds (0 to 22), whose
rewards are not looked at.  Sigma is the smallest one whose exact delta at epsilon, for a shift by one, is in bound.
"""
import functools
import math

import numpy as np


def exact_delta(sigma, epsilon):
    reach = int(40 * sigma) + 10
    z = np.arange(-reach, reach + 1)
    p = np.exp(-z.astype(float) ** 2 / (2 * sigma ** 2))
    p /= p.sum()
    return float(np.maximum(p[:-1] - math.exp(epsilon) * p[1:], 0.0).sum())


@functools.lru_cache(maxsize=None)
def calibrate(epsilon, delta):
    low, high = 0.3, 50.0
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if exact_delta(mid, epsilon) > delta else (low, mid)
    return high * (1 + 1e-9)


class DiscreteGaussian:
    """Rejection from discrete Laplace proposals (Canonne, Kamath, Steinke)."""

    def __init__(self, sigma, rng):
        self.sigma2, self.rng = sigma * sigma, rng
        self.t = math.floor(sigma) + 1

    def _discrete_laplace(self):
        stop = 1.0 - math.exp(-1.0 / self.t)
        return int(self.rng.geometric(stop)) - int(self.rng.geometric(stop))

    def draw(self):
        while True:
            y = self._discrete_laplace()
            if self.rng.random() < math.exp(-((abs(y) - self.sigma2 / self.t) ** 2) / (2 * self.sigma2)):
                return y


class BonusBandit:
    trial = 6
    most = 22

    def __init__(self, n_arms=2, epsilon=1.0, rng=None, delta=1e-4):
        self.n_arms = n_arms
        self.rng = rng if rng is not None else np.random.default_rng()
        self.noise = DiscreteGaussian(calibrate(epsilon, delta), self.rng)
        self.arm = self.bonus = self.taken = self.ones = 0

    def act(self):
        return self.arm

    def observe(self, arm, reward):
        if self.bonus:
            self.bonus -= 1
        else:
            self.ones += int(self.rng.random() < reward)
            self.taken += 1
            if self.taken < self.trial:
                return
            self.bonus = min(max(self.ones + self.noise.draw(), 0), self.most)
            self.taken = self.ones = 0
        if self.bonus == 0:
            self.arm = (self.arm + 1) % self.n_arms
