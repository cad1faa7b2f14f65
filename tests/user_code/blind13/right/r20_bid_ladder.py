"""Bid ladder on a sliding window, Gaussian noise.

BidLadder(n_arms, horizon, epsilon, rng): (epsilon, delta) = (2.0, 1e-3) by default.  Before each auction
the sum of the last four rewards gets Gaussian noise and the bid level is the bucket it falls in.  Windows overlap: a
reward is in four of them, so the L2 sensitivity of the whole stream is sqrt(4) = 2; sigma is the
analytic Gaussian calibration for that sensitivity (adaptive composition of Gaussian mechanisms).
"""
from collections import deque
from math import exp, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

WINDOW = 4


def gaussian_delta(epsilon, mu):
    return norm.cdf(-epsilon / mu + mu / 2) - exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


def calibrate(epsilon, delta, l2):
    mu = brentq(lambda m: gaussian_delta(epsilon, m) - 0.999 * delta, 1e-2, 20.0)
    return l2 / mu


class BidLadder:
    _sigma_cache = {}

    def __init__(self, n_arms=5, horizon=40, epsilon=2.0, rng=None, delta=1e-3):
        self.rng = rng if rng is not None else np.random.default_rng()
        key = (epsilon, delta, WINDOW)
        if key not in self._sigma_cache:
            self._sigma_cache[key] = calibrate(epsilon, delta, sqrt(WINDOW))
        self.sigma = self._sigma_cache[key]
        self.window = deque(maxlen=WINDOW)
        middle = WINDOW / 2
        self.edges = middle + 2.0 * (np.arange(1, n_arms) - n_arms / 2)
        self.level_counts = [0] * n_arms

    def select(self):
        noisy = sum(self.window) + self.rng.normal(0.0, self.sigma)
        level = int(np.searchsorted(self.edges, noisy))
        self.level_counts[level] += 1
        return level

    def update(self, arm, reward):
        self.window.append(min(max(float(reward), 0.0), 1.0))
