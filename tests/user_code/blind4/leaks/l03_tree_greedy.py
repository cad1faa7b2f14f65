"""Greedy learner on tree-aggregated reward sums (one dyadic tree per arm)."""
import numpy as np


class TreeGreedy:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.rng = rng
        self.levels = horizon.bit_length()
        self.b = self.levels / epsilon
        self.nodes = [{} for _ in range(n_arms)]
        self.n = [0] * n_arms

    def _node(self, arm, lev, idx):
        return self.nodes[arm][lev, idx] + self.rng.laplace(0, self.b)

    def _sum(self, arm):
        total, pos, n = 0.0, 0, self.n[arm]
        for lev in reversed(range(self.levels)):
            if n & (1 << lev):
                total += self._node(arm, lev, pos >> lev)
                pos += 1 << lev
        return total

    def select(self):
        for a, n in enumerate(self.n):
            if n == 0:
                return a
        return int(np.argmax([self._sum(a) / self.n[a] for a in range(len(self.n))]))

    def update(self, arm, reward):
        i = self.n[arm]
        for lev in range(self.levels):
            self.nodes[arm][lev, i >> lev] = self.nodes[arm].get((lev, i >> lev), 0.0) + reward
        self.n[arm] += 1
