"""Moves on when the recent rewards are poor."""
from collections import deque

import numpy as np


class RecentMean:
    def __init__(self, n_arms=2, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.window = deque(maxlen=8)
        self.eps, self.n_arms = epsilon, n_arms
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.window.append(float(reward))
        if len(self.window) == self.window.maxlen:
            noisy = sum(self.window) + self.rng.laplace(0, 1 / self.eps)
            self.arm = arm if noisy > 4 else (arm + 1) % self.n_arms
