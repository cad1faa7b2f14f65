"""UCB whose running sums come from a binary tree (one tree per arm).

Proof.  In the tree of its arm the n-th reward lies in at most one node of each level 0 .. floor(log2(horizon)),
that is in at most LEVELS = horizon.bit_length() nodes.  Each node is noised once, when it closes, with fresh
Laplace noise of scale LEVELS / EPSILON.  Changing one reward moves each such node by at most 1, so, adaptively
and given equal earlier outputs, each costs EPSILON / LEVELS and all together at most EPSILON.
The indices use only noisy nodes and pull counts; counts are functions of the actions already seen.
"""
import math
from dataclasses import dataclass, field

import numpy as np

EPSILON = 3.0
N_ARMS = 2
HORIZON = 60


@dataclass
class BinaryCounter:
    horizon: int
    rng: np.random.Generator
    n: int = 0
    raw: list = field(default_factory=list)
    noisy: list = field(default_factory=list)

    def __post_init__(self):
        self.levels = self.horizon.bit_length()
        self.raw = [0.0] * self.levels
        self.noisy = [0.0] * self.levels

    def add(self, x):
        if self.n >= self.horizon:
            return
        self.n += 1
        level = (self.n & -self.n).bit_length() - 1
        self.raw[level] = x + sum(self.raw[:level])
        e1, e2 = self.rng.exponential(self.levels / EPSILON, size=2)
        self.noisy[level] = self.raw[level] + e1 - e2
        for low in range(level):
            self.raw[low] = self.noisy[low] = 0.0

    def total(self):
        return sum(self.noisy)


@dataclass
class TreeUCB:
    n_arms: int
    rng: np.random.Generator
    horizon: int = HORIZON

    def __post_init__(self):
        self.trees = [BinaryCounter(self.horizon, self.rng) for _ in range(self.n_arms)]
        self.t = 0

    def index(self, arm):
        tree = self.trees[arm]
        if tree.n == 0:
            return math.inf
        width = math.sqrt(2 * math.log(self.t + 1) / tree.n) + tree.levels / (EPSILON * tree.n)
        return tree.total() / tree.n + width

    def select(self):
        return max(range(self.n_arms), key=self.index)

    def update(self, arm, reward):
        self.t += 1
        self.trees[arm].add(float(reward))
