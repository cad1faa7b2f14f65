"""Sliding-window UCB over the last few noisy block averages of each arm."""
from collections import deque
from math import log, sqrt

import numpy as np


class RecentBlocks:
    def __init__(self, n_arms=3, horizon=90, epsilon=2.0, rng=None, block=3, keep=4):
        self.rng = rng or np.random.default_rng()
        self.scale = 1.0 / epsilon
        self.block = block
        self.windows = [deque(maxlen=keep) for _ in range(n_arms)]
        self.open = [(0, 0.0)] * n_arms
        self.t = 0
        self.arm = 0

    def _index(self, arm):
        window = self.windows[arm]
        if not window:
            return float("inf")
        n = len(window) * self.block
        return sum(window) / n + 0.4 * sqrt(log(self.t + 2) / n)

    def select(self):
        if self.open[self.arm][0] == 0:
            self.arm = max(range(len(self.windows)), key=self._index)
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        n, s = self.open[arm]
        n, s = n + 1, s + reward
        if n == self.block:
            self.windows[arm].append(s + self.rng.laplace(0.0, self.scale))
            n, s = 0, 0.0
        self.open[arm] = (n, s)
