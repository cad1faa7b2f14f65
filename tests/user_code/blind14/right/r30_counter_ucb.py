"""UCB whose per-arm reward sums come from binary-counter trees (epsilon = 3)."""
import math

import numpy as np


class BinaryCounter:
    """Running sum under continual observation: one noisy partial sum per level."""

    def __init__(self, max_items, epsilon, rng):
        self.levels = int(math.floor(math.log2(max_items))) + 1
        self.scale = self.levels / epsilon
        self.rng = rng
        self.exact = [0.0] * self.levels
        self.noisy = [0.0] * self.levels
        self.n = 0

    def add(self, x):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1
        merged = x + sum(self.exact[:low])
        for j in range(low):
            self.exact[j] = 0.0
            self.noisy[j] = 0.0
        self.exact[low] = merged
        self.noisy[low] = merged + self.rng.laplace(0.0, self.scale)

    def total(self):
        return sum(self.noisy[j] for j in range(self.levels) if self.n >> j & 1)


class CounterUCB:
    def __init__(self, n_arms=3, horizon=31, epsilon=3.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.counters = [BinaryCounter(horizon, epsilon, self.rng) for _ in range(n_arms)]
        self.t = 0

    def select(self):
        for arm, c in enumerate(self.counters):
            if c.n == 0:
                return arm
        bonus = math.log(self.t + 1)
        index = [c.total() / c.n + math.sqrt(0.5 * bonus / c.n) for c in self.counters]
        return int(np.argmax(index))

    def update(self, arm, reward):
        self.counters[arm].add(float(reward))
        self.t += 1
