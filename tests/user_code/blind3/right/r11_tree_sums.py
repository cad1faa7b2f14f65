"""A binary tree of partial sums for each arm.

The stream of an arm is its reward in rounds where it was played, else 0. A round is in one node of each of the six levels (1,
2, ..., 32 rounds) of one tree only; every node has Laplace noise of scale 6/epsilon, drawn once. Total epsilon.
"""

import numpy as np


class Tree:
    def __init__(self, horizon, epsilon, rng):
        self.levels = int(np.log2(horizon)) + 1
        self.sums = [np.zeros(horizon >> i) for i in range(self.levels)]
        self.noise = [rng.laplace(0, self.levels / epsilon, horizon >> i) for i in range(self.levels)]

    def add(self, t, value):
        for i in range(self.levels):
            self.sums[i][t >> i] += value

    def prefix(self, t):
        total, start = 0.0, 0
        for i in reversed(range(self.levels)):
            if t & (1 << i):
                node = start >> i
                total += self.sums[i][node] + self.noise[i][node]
                start += 1 << i
        return total


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    trees = [Tree(horizon, epsilon, rng) for _ in range(k)]
    pulls = np.zeros(k)
    actions = []
    for t in range(horizon):
        if t % 4 < k:
            arm = t % 4
        else:
            arm = int(np.argmax([tree.prefix(t) / max(n, 1) for tree, n in zip(trees, pulls)]))
        trees[arm].add(t, rewards[t, arm])
        pulls[arm] += 1
        actions.append(arm)
    return actions
