"""Doubling epochs; every epoch spends half of what is left."""
import numpy as np


class Halver:
    def __init__(self, n_arms=2, epsilon=2.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.left = epsilon
        self.totals = np.zeros(n_arms)
        self.plan = self._exploration(n_arms)
        self.length = 8

    @staticmethod
    def _exploration(k):
        return [i for i in range(k) for _ in range(4)]

    def select(self):
        return self.plan[0]

    def update(self, arm, reward):
        self.plan = self.plan[1:]
        self.totals[arm] += reward
        if self.plan:
            return
        spend, self.left = self.left / 2, self.left / 2
        noisy = self.totals + self.rng.laplace(0, 1 / spend, self.totals.size)
        best = int(noisy.argmax())
        other = [k for k in range(self.totals.size) if k != best]
        self.plan = [best] * (self.length - len(other)) + other
        self.length *= 2
