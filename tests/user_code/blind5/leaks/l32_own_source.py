"""Batched UCB with a separate noise service."""
import itertools

import numpy as np


class NoiseService:
    """Reproducible Laplace noise."""

    def __init__(self, epsilon, seed=20240117):
        self._rng = np.random.default_rng(seed)
        self._scale = 1.0 / epsilon

    def privatise(self, value):
        return value + self._rng.laplace(0.0, self._scale)


class OwnSource:
    BATCH = 4

    def __init__(self, n_arms=4, horizon=84, epsilon=2.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.noise = NoiseService(epsilon)
        self.estimates = {arm: (0, 0.0) for arm in range(n_arms)}
        self.order = itertools.chain(self.rng.permutation(n_arms).tolist(), self._later())
        self._next_batch()

    def _later(self):
        while True:
            yield max(self.estimates, key=lambda a: self._index(*self.estimates[a]))

    @staticmethod
    def _index(n, total):
        return total / n + 0.5 / n**0.5

    def _next_batch(self):
        self.arm = next(self.order)
        self.batch = []

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.batch.append(reward)
        if len(self.batch) == self.BATCH:
            n, total = self.estimates[arm]
            self.estimates[arm] = (n + self.BATCH, total + self.noise.privatise(sum(self.batch)))
            self._next_batch()
