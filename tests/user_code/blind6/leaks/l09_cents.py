"""Phased greedy that counts in tenths."""
import numpy as np


class CentsBandit:
    def __init__(self, n_arms=2, horizon=48, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.p = 1 - np.exp(-epsilon)
        self.n_arms = n_arms
        self.batch = max(1, horizon // (4 * n_arms))
        self._start()
        self.best = None

    def _start(self):
        self.t = 0
        self.units = [0] * self.n_arms

    def _noise(self):
        return int(self.rng.geometric(self.p) - self.rng.geometric(self.p))

    def select(self):
        if self.t < self.batch * self.n_arms:
            return self.t // self.batch
        return self.best

    def update(self, arm, reward):
        exploring = self.t < self.batch * self.n_arms
        self.t += 1
        if exploring:
            self.units[arm] += round(reward * 10)
            if self.t == self.batch * self.n_arms:
                noisy = [u + self._noise() for u in self.units]
                self.best = noisy.index(max(noisy))
        elif self.t == 2 * self.batch * self.n_arms:
            self._start()
