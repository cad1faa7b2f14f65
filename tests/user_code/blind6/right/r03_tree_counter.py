"""UCB whose sums come from streaming counters."""
import math

import numpy as np


class Counter:
    def __init__(self, horizon, epsilon, rng):
        self.levels = horizon.bit_length()
        self.scale = self.levels / epsilon
        self.rng = rng
        self.exact = [0.0] * self.levels
        self.noisy = [0.0] * self.levels
        self.n = 0

    def add(self, x):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1
        self.exact[low] = x + sum(self.exact[:low])
        for j in range(low):
            self.exact[j] = self.noisy[j] = 0.0
        self.noisy[low] = self.exact[low] + self.rng.laplace(0, self.scale)

    def total(self):
        return sum(self.noisy[j] for j in range(self.levels) if self.n >> j & 1)


class TreeUcb:
    def __init__(self, n_arms=2, horizon=64, epsilon=2.0, rng=None):
        rng = rng if rng is not None else np.random.default_rng()
        self.counters = [Counter(horizon, epsilon, rng) for _ in range(n_arms)]
        self.t = 0

    def select(self):
        for i, c in enumerate(self.counters):
            if c.n == 0:
                return i

        def index(c):
            return c.total() / c.n + math.sqrt(2 * math.log(self.t + 1) / c.n)

        return max(range(len(self.counters)), key=lambda i: index(self.counters[i]))

    def update(self, arm, reward):
        self.t += 1
        self.counters[arm].add(reward)
