"""UCB on private reward totals kept by one binary-tree counter per arm.

K = 3, horizon 40, claimed epsilon = 2.0 (pure).  Rewards are first gathered in leaves of
eight consecutive rewards of an arm; finished leaves enter the arm's binary counter.  A leaf is
in at most one p-sum per level, and an arm can close at most horizon // 8 leaves, so each
p-sum gets Laplace noise of scale levels / epsilon.
"""
import math


class BinaryCounter:
    """Continual sum of Chan, Shi and Song."""

    def __init__(self, max_items, epsilon, rng):
        self.levels = max(1, int(max_items).bit_length())
        self.scale = self.levels / epsilon
        self.rng = rng
        self.items = 0
        self.alpha = [0.0] * self.levels
        self.noisy = [0.0] * self.levels

    def add(self, x):
        self.items += 1
        low = (self.items & -self.items).bit_length() - 1
        self.alpha[low] = sum(self.alpha[:low]) + x
        for j in range(low):
            self.alpha[j] = self.noisy[j] = 0.0
        self.noisy[low] = self.alpha[low] + self.rng.laplace(0.0, self.scale)

    def total(self):
        return sum(v for j, v in enumerate(self.noisy) if self.items >> j & 1)


class LeafedCounter(BinaryCounter):
    LEAF = 8

    def __init__(self, horizon, epsilon, rng):
        super().__init__(horizon // self.LEAF, epsilon, rng)
        self.open = []

    def push(self, reward):
        self.open.append(reward)
        if len(self.open) == self.LEAF:
            self.add(sum(self.open))
            self.open = []

    @property
    def size(self):
        return self.items * self.LEAF


class TreeUCB:
    def __init__(self, n_arms=3, horizon=40, epsilon=2.0, rng=None):
        self.counters = [LeafedCounter(horizon, epsilon, rng) for _ in range(n_arms)]
        self.t = 0

    def _index(self, c):
        if c.size == 0:
            return math.inf
        spread = c.scale * math.sqrt(2.0) / c.size
        return c.total() / c.size + math.sqrt(0.5 * math.log(1 + self.t) / c.size) + 0.25 * spread

    def select(self):
        scores = [self._index(c) for c in self.counters]
        return scores.index(max(scores))

    def update(self, arm, reward):
        self.t += 1
        self.counters[arm].push(float(reward))
