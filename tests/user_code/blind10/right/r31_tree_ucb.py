"""UCB on the binary-tree mechanism (Chan, Shi and Song 2011; Dwork et al. 2010), one tree for each arm.

The n-th reward of an arm is a leaf; it is a part of one node on each of LEVELS = bit_length(T) levels, and every
node's noise is drawn once, Laplace of scale LEVELS / EPSILON.  Changing one reward by at most 1 moves at most
LEVELS node sums by at most 1 each, so the vector of all noisy nodes has L1 sensitivity LEVELS and costs EPSILON.
The order in which nodes are closed depends on the earlier noisy nodes only, and actions are computed from closed
noisy nodes and pull counts (visible), hence adaptive post-processing.
"""
import math

import numpy as np

EPSILON = 2.0


class PrefixTree:
    """Running noisy total; `open` and `noisy` hold the node sums of the current binary expansion."""

    def __init__(self, levels, scale, rng):
        self.open = [0.0] * levels
        self.noisy = [0.0] * levels
        self.scale, self.rng, self.n = scale, rng, 0

    def add(self, value):
        self.n += 1
        level = (self.n & -self.n).bit_length() - 1
        total = value + sum(self.open[:level])
        for low in range(level):
            self.open[low] = self.noisy[low] = 0.0
        self.open[level] = total
        # Laplace as a difference of two exponentials
        self.noisy[level] = total + self.rng.exponential(self.scale) - self.rng.exponential(self.scale)

    def total(self):
        return sum(self.noisy)


def play(rewards, rng):
    T, K = rewards.shape
    levels = T.bit_length()
    trees = [PrefixTree(levels, levels / EPSILON, rng) for _ in range(K)]
    out = np.empty(T, dtype=int)
    for t in range(T):
        def index(a):
            tree = trees[a]
            if tree.n == 0:
                return math.inf
            return tree.total() / tree.n + math.sqrt(2 * math.log(t + 1) / tree.n)

        arm = max(range(K), key=index)
        trees[arm].add(float(rewards[t, arm]))
        out[t] = arm
    return out
