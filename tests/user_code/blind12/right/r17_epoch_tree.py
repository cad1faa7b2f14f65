"""Epoch recommender: UCB over binary-tree counters whose leaves are epochs.

The horizon is cut in epochs.  In an epoch every item is shown once and then the item
with the best private index fills the rest.  When an epoch closes, each item's epoch total goes
as a leaf into that item's binary-tree counter (Chan-Shi-Song): a reward is in one leaf,
a leaf in at most `levels` partial sums, each with Laplace(levels / epsilon) noise drawn
once and kept.  Claim: epsilon-DP (pure) at the epsilon passed in (2.0 by default).
"""
import math

import numpy as np


class TreeCounter:
    """Binary mechanism for at most `capacity` leaves."""

    def __init__(self, capacity, epsilon, rng):
        self.levels = max(1, int(capacity).bit_length())
        self.scale = self.levels / epsilon
        self.rng = rng
        self.clear = [0.0] * self.levels
        self.public = [0.0] * self.levels
        self.n = 0

    def push(self, leaf):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1        # lowest set bit
        self.clear[low] = leaf + sum(self.clear[:low])
        for j in range(low):
            self.clear[j] = self.public[j] = 0.0
        self.public[low] = self.clear[low] + self.rng.laplace(0.0, self.scale)

    def total(self):
        return sum(self.public[j] for j in range(self.levels) if self.n >> j & 1)


class EpochTreeRecommender:
    EPOCH = 8

    def __init__(self, n_arms=2, horizon=56, epsilon=2.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.k = n_arms
        capacity = max(1, (horizon - 1) // self.EPOCH)    # closings that still matter
        self.capacity = capacity
        self.trees = [TreeCounter(capacity, epsilon, rng) for _ in range(n_arms)]
        self.shown = np.zeros(n_arms, int)
        self.bucket = np.zeros(n_arms)
        self.t = 0
        self.hero = 0

    def choose(self):
        slot = self.t % self.EPOCH
        return slot if slot < self.k else self.hero

    def learn(self, arm, reward):
        self.bucket[arm] += reward
        self.shown[arm] += 1
        self.t += 1
        if self.t % self.EPOCH == 0 and self.trees[0].n < self.capacity:
            self._close_epoch()

    def _close_epoch(self):
        index = []
        for a, tree in enumerate(self.trees):
            tree.push(self.bucket[a])
            bonus = 0.3 * math.sqrt(math.log(self.t) / self.shown[a])
            index.append(tree.total() / self.shown[a] + bonus)
        self.bucket[:] = 0.0
        self.hero = int(np.argmax(index))
