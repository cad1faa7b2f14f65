"""Explore-commit with a generator of its own for the noise."""
import numpy as np


class Reproducible:
    SEED = 2024

    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.noise = np.random.default_rng(self.SEED)
        self.rng = rng or np.random.default_rng()
        self.n_arms, self.epsilon = n_arms, epsilon
        self.explore = horizon // 3
        self.t = 0
        self.sums = np.zeros(n_arms)
        self.order = self.rng.permutation(n_arms)
        self.best = 0

    def select(self):
        if self.t < self.explore:
            return int(self.order[self.t % self.n_arms])
        return self.best

    def update(self, arm, reward):
        if self.t < self.explore:
            self.sums[arm] += reward
        self.t += 1
        if self.t == self.explore:
            noisy = self.sums + self.noise.laplace(0, 1 / self.epsilon, self.n_arms)
            self.best = int(np.argmax(noisy))
