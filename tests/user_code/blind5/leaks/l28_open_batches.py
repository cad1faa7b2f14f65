"""UCB on noisy batch totals; rewards of the unfinished batch are counted as well."""
from math import inf, log, sqrt

import numpy as np


class OpenBatches:
    def __init__(self, n_arms=3, horizon=80, epsilon=1.5, rng=None, batch=6):
        self.rng = rng or np.random.default_rng()
        self.epsilon, self.batch = epsilon, batch
        self.closed = np.zeros(n_arms)
        self.open = [[] for _ in range(n_arms)]
        self.pulls = np.zeros(n_arms, dtype=int)

    def _index(self, arm):
        n = self.pulls[arm]
        if n == 0:
            return inf
        total = self.closed[arm] + sum(self.open[arm])
        return total / n + 0.5 * sqrt(log(self.pulls.sum() + 1) / n)

    def select(self):
        return max(range(len(self.open)), key=self._index)

    def update(self, arm, reward):
        self.pulls[arm] += 1
        self.open[arm].append(float(reward))
        if len(self.open[arm]) == self.batch:
            self.closed[arm] += sum(self.open[arm]) + self.rng.laplace(0.0, 1.0 / self.epsilon)
            self.open[arm].clear()
