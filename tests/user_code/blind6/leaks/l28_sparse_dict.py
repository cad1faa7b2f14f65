"""Explore-commit with a sparse dictionary of totals."""
from collections import defaultdict

import numpy as np


class SparseSums:
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.n_arms, self.epsilon = n_arms, epsilon
        self.explore = 5 * n_arms
        self.totals = defaultdict(float)
        self.t, self.best = 0, 0

    def select(self):
        return self.t % self.n_arms if self.t < self.explore else self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t > self.explore:
            return
        if reward > 0:
            self.totals[arm] += reward
        if self.t == self.explore:
            noisy = {a: s + self.rng.laplace(0, 1 / self.epsilon) for a, s in self.totals.items()}
            self.best = max(range(self.n_arms), key=lambda a: noisy.get(a, 0.0))
