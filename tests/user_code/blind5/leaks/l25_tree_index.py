"""Greedy bandit over totals that are assembled from noisy dyadic nodes of blocks of pulls."""
import numpy as np


class TreeIndex:
    BLOCK = 8

    def __init__(self, n_arms=2, horizon=96, epsilon=2.0, rng=None):
        self.rng = rng or np.random.default_rng()
        levels = (horizon // self.BLOCK).bit_length()
        self.scale = levels / epsilon
        self.nodes = [[] for _ in range(n_arms)]
        self.open = [[] for _ in range(n_arms)]
        self.t = 0

    def _insert(self, arm, total):
        stack = self.nodes[arm]
        stack.append((1, total))
        while len(stack) > 1 and stack[-1][0] == stack[-2][0]:
            width, value = stack.pop()
            _, other = stack.pop()
            stack.append((2 * width, value + other))

    def _mean(self, arm):
        blocks = sum(width for width, _ in self.nodes[arm])
        noisy = sum(value + self.rng.laplace(0.0, self.scale) for _, value in self.nodes[arm])
        return noisy / (blocks * self.BLOCK)

    def select(self):
        if self.t < self.BLOCK * len(self.nodes):
            return self.t // self.BLOCK
        return int(np.argmax([self._mean(a) for a in range(len(self.nodes))]))

    def update(self, arm, reward):
        self.t += 1
        self.open[arm].append(float(reward))
        if len(self.open[arm]) == self.BLOCK:
            self._insert(arm, sum(self.open[arm]))
            self.open[arm] = []
