"""UCB whose sums come from a binary tree for each arm, with nodes drawn lazily.

Right. A tree over the pulls of an arm has nodes of 1, 2, 4, ... pulls. With a horizon of T there are L =
bit_length(T) sizes, and a pull lies in one node of each size, so in at most L nodes in all. A node gets its
Laplace noise of scale L / EPSILON when it is first read and keeps it in a dictionary. One reward changes at
most L released numbers, by at most 1 each: L times EPSILON / L is EPSILON.
"""

import math

import numpy as np

EPSILON = 2.0


class Tree:
    def __init__(self, rng, scale):
        self.rng, self.scale = rng, scale
        self.prefix = [0.0]
        self.nodes = {}

    def append(self, value):
        self.prefix.append(self.prefix[-1] + value)

    def node(self, start, end):
        if (start, end) not in self.nodes:
            exact = self.prefix[end] - self.prefix[start]
            self.nodes[start, end] = exact + self.rng.laplace(0, self.scale)
        return self.nodes[start, end]

    def total(self):
        count, position, out = len(self.prefix) - 1, 0, 0.0
        for bit in reversed(range(count.bit_length())):
            if count >> bit & 1:
                out += self.node(position, position + (1 << bit))
                position += 1 << bit
        return out


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    levels = horizon.bit_length()
    trees = [Tree(rng, levels / EPSILON) for _ in range(n_arms)]
    actions = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            index = []
            for tree in trees:
                n = len(tree.prefix) - 1
                index.append(tree.total() / n + math.sqrt(2 * math.log(t + 1) / n))
            arm = int(np.argmax(index))
        trees[arm].append(rewards[t, arm])
        actions[t] = arm
    return actions
