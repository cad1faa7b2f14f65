"""A/B bandit with Gaussian noise: claims (epsilon, delta) = (1, 1e-3).

Rounds come in blocks of 24: sixteen for the test of A against B and eight for the winner. Each test uses
its own rewards, the difference of sums has sensitivity 1, and sigma is the smallest allowed by
the exact (Balle-Wang) condition of the Gaussian mechanism.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


def exact_delta(sigma, epsilon, sensitivity=1.0):
    r = sensitivity / sigma
    return norm.cdf(r / 2 - epsilon / r) - np.exp(epsilon) * norm.cdf(-r / 2 - epsilon / r)


def calibrate(epsilon, delta):
    root = brentq(lambda s: exact_delta(s, epsilon) - delta, 0.05, 100.0, xtol=1e-10)
    return root * (1 + 1e-6)


class GaussianAB:
    TEST, BLOCK = 16, 24

    def __init__(self, n_arms=2, horizon=48, epsilon=1.0, delta=1e-3, rng=None):
        assert n_arms == 2
        self.rng = rng if rng is not None else np.random.default_rng()
        self.sigma = calibrate(epsilon, delta)
        self.clock = 0
        self.difference = 0.0
        self.winner = 0

    @property
    def position(self):
        return self.clock % self.BLOCK

    def act(self):
        return self.position % 2 if self.position < self.TEST else self.winner

    def observe(self, arm, reward):
        if self.position < self.TEST:
            self.difference += reward if arm == 1 else -reward
            if self.position == self.TEST - 1:
                noisy = self.difference + self.sigma * self.rng.standard_normal()
                self.winner = int(noisy > 0.0)
                self.difference = 0.0
        self.clock += 1
