"""UCB over binary-mechanism sums, one stream per arm.

A stream has at most `horizon` items, so at most L = floor(log2 horizon) + 1 levels, and an item is part of at most one
node of each level.  Nodes are noised with Laplace(L / eps) when they are closed.  One reward is one item of one
stream, hence L * eps / L = eps for all nodes ever released.
"""
import math


class _Counter:
    def __init__(self, horizon, eps, rng):
        self.levels = int(math.floor(math.log2(horizon))) + 1
        self.scale = self.levels / eps
        self.rng = rng
        self.exact = [0.0] * self.levels
        self.noisy = [0.0] * self.levels
        self.n = 0

    def add(self, x):
        self.n += 1
        low = (self.n & -self.n).bit_length() - 1
        self.exact[low] = x + sum(self.exact[:low])
        for i in range(low):
            self.exact[i] = self.noisy[i] = 0.0
        self.noisy[low] = self.exact[low] + self.rng.laplace(0.0, self.scale)

    def total(self):
        return sum(self.noisy[i] for i in range(self.levels) if self.n >> i & 1)


class TreeUCB:
    def __init__(self, n_arms, horizon, rng, epsilon=2.0):
        self.counters = [_Counter(horizon, epsilon, rng) for _ in range(n_arms)]
        self.t = 0

    def select(self):
        best, best_index = 0, -math.inf
        for a, c in enumerate(self.counters):
            if c.n == 0:
                return a
            index = c.total() / c.n + math.sqrt(2 * math.log(self.t + 1) / c.n)
            if index > best_index:
                best, best_index = a, index
        return best

    def update(self, arm, reward):
        self.t += 1
        self.counters[arm].add(float(reward))
