"""Phased greedy with additive noise."""
import numpy as np


class AdditiveGreedy:
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.width = 2.0 / epsilon
        self.n_arms, self.block = n_arms, 5
        self.sums = np.zeros(n_arms)
        self.t, self.best = 0, None

    def select(self):
        i = self.t % (2 * self.block * self.n_arms)
        return i // self.block if i < self.block * self.n_arms else self.best

    def update(self, arm, reward):
        i = self.t % (2 * self.block * self.n_arms)
        self.t += 1
        if i < self.block * self.n_arms:
            self.sums[arm] += reward
            if i == self.block * self.n_arms - 1:
                noisy = self.sums + self.rng.uniform(-self.width, self.width, self.n_arms)
                self.best = int(noisy.argmax())
                self.sums[:] = 0
