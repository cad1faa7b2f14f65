"""UCB on top of the two-level private counter of Chan, Shi and Song.

Each arm owns a counter.  A reward is published once on its own (inside the open
block) and once within the total of its block; both carry Laplace noise of scale
2 / epsilon.  Claim: epsilon = 3.0 for the actions (continual observation).
"""
import math

import numpy as np


class TwoLevelCounter:
    def __init__(self, block, scale, rng):
        self.block = block
        self.scale = scale
        self.rng = rng
        self.n = 0
        self._closed = 0.0       # noisy totals of finished blocks
        self._open_noisy = 0.0   # noisy items of the block under way
        self._open_exact = 0.0   # never read before the block is closed

    def _noise(self):
        return self.rng.laplace(scale=self.scale)

    def add(self, x):
        self.n += 1
        self._open_exact += x
        self._open_noisy += x + self._noise()
        if self.n % self.block == 0:
            self._closed += self._open_exact + self._noise()
            self._open_exact = 0.0
            self._open_noisy = 0.0

    @property
    def total(self):
        return self._closed + self._open_noisy


class IndexPolicy:
    def __init__(self, n_arms, horizon, epsilon, rng):
        self.n_arms, self.horizon = n_arms, horizon
        self.epsilon, self.rng = epsilon, rng
        self.t = 0

    def index(self, arm):
        raise NotImplementedError

    def select(self):
        return int(np.argmax([self.index(a) for a in range(self.n_arms)]))

    def update(self, arm, reward):
        self.t += 1


class TwoLevelUCB(IndexPolicy):
    def __init__(self, n_arms=2, horizon=30, epsilon=3.0, rng=None, block=3):
        super().__init__(n_arms, horizon, epsilon, rng)
        self.counters = [TwoLevelCounter(block, 2.0 / epsilon, rng) for _ in range(n_arms)]

    def index(self, arm):
        c = self.counters[arm]
        if c.n == 0:
            return math.inf
        return c.total / c.n + 0.5 * math.sqrt(math.log(self.t + 1) / c.n)

    def update(self, arm, reward):
        super().update(arm, reward)
        self.counters[arm].add(float(reward))
