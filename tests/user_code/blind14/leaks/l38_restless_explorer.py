"""Explore more when things go badly: private leader, adaptive exploration.  epsilon = 0.8.

The leader comes from Laplace-noised sums of disjoint ten-round blocks.  The rate
of exploration is 0.06 after a good spell and rises when recent rewards are low.
"""
from collections import deque
from statistics import fmean

import numpy as np


class Restless:
    BLOCK = 10

    def __init__(self, n_arms=2, horizon=40, epsilon=0.8, rng=None):
        self.k, self.eps, self.rng = n_arms, epsilon, rng
        self.recent = deque([1.0] * 5, maxlen=5)
        self.leader = int(rng.integers(n_arms))
        self._reset()

    def _reset(self):
        self.n = [0] * self.k
        self.s = [0.0] * self.k

    @property
    def rate(self):
        return 0.06 + 0.6 * (1.0 - fmean(self.recent))

    def select(self):
        if self.rng.random() < self.rate:
            return int(self.rng.integers(self.k))
        return self.leader

    def update(self, arm, reward):
        self.recent.append(float(reward))
        self.n[arm] += 1
        self.s[arm] += reward
        if sum(self.n) == self.BLOCK:
            noisy = [s + self.rng.laplace(0.0, 1.0 / self.eps) for s in self.s]
            value = [v / n if n else 0.5 for v, n in zip(noisy, self.n)]
            self.leader = max(range(self.k), key=value.__getitem__)
            self._reset()
