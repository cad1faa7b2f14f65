"""Tree-based private UCB.

Every arm owns a binary tree over its own pulls; the noisy sum of the first n
rewards is the sum of the dyadic nodes that cover 1..n.  A reward sits in at
most one node of each size, so with L sizes each node gets Laplace(L / epsilon).
Claim: epsilon-DP (pure) for one reward in [0, 1].
"""
import math
import numpy as np


class NoisyPrefix:
    def __init__(self, max_len, epsilon, rng):
        self.levels = max_len.bit_length()
        self.scale = self.levels / epsilon
        self.rng = rng
        self.open = [0.0] * self.levels     # exact sums of nodes still filling
        self.closed = {}                    # level -> noisy sum of the live node
        self.n = 0

    def push(self, x):
        self.n += 1
        carry = x
        level = 0
        while (self.n >> level) & 1 == 0:
            carry += self.open[level]
            self.open[level] = 0.0
            self.closed.pop(level, None)
            level += 1
        self.open[level] = carry
        self.closed[level] = carry + self.rng.laplace(0.0, self.scale)

    def value(self):
        return sum(self.closed.values())


class TreeUCB:
    def __init__(self, n_arms=3, horizon=24, epsilon=2.0, rng=None):
        self.k = n_arms
        self.horizon = horizon
        self.trees = [NoisyPrefix(horizon, epsilon, rng) for _ in range(n_arms)]
        self.epsilon = epsilon
        self.t = 0

    def _index(self, a):
        tree = self.trees[a]
        if tree.n == 0:
            return math.inf
        bonus = math.sqrt(2.0 * math.log(self.t + 1) / tree.n)
        slack = tree.levels * math.log(self.horizon) / (4.0 * self.epsilon * tree.n)
        return tree.value() / tree.n + bonus + slack

    def select(self):
        scores = [self._index(a) for a in range(self.k)]
        return int(np.argmax(scores))

    def update(self, arm, reward):
        self.trees[arm].push(min(max(float(reward), 0.0), 1.0))
        self.t += 1
