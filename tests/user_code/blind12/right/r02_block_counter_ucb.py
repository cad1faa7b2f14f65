"""UCB on two-level private counters.

Each arm keeps a counter with two levels: single rewards and closed blocks of `block`
rewards.  Each node gets one Laplace draw, made when the node is created and kept; a
reward lies in exactly two nodes, so each level is run at epsilon / 2.
Claim: epsilon-DP for one reward, default epsilon = 2.0, horizon 30, two arms.
"""
import numpy as np


class TwoLevelCounter:
    def __init__(self, epsilon, block, rng):
        self.scale = 2.0 / epsilon
        self.block = block
        self.rng = rng
        self.count = 0
        self.closed = 0.0       # noisy sum of the closed blocks
        self.open_raw = 0.0     # exact sum of the block being filled
        self.open_noisy = 0.0   # sum of the noisy leaves in that block

    def add(self, value):
        self.count += 1
        self.open_raw += value
        if self.count % self.block == 0:
            self.closed += self.open_raw + self.rng.laplace(0.0, self.scale)
            self.open_raw = 0.0
            self.open_noisy = 0.0
        else:
            self.open_noisy += value + self.rng.laplace(0.0, self.scale)

    @property
    def total(self):
        return self.closed + self.open_noisy


class CounterUCB:
    def __init__(self, n_arms=2, horizon=30, epsilon=2.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.counters = [TwoLevelCounter(epsilon, 5, self.rng) for _ in range(n_arms)]
        self.t = 0

    def index(self, c):
        return c.total / c.count + np.sqrt(0.5 * np.log(self.t + 1) / c.count)

    def select(self):
        for arm, c in enumerate(self.counters):
            if c.count == 0:
                return arm
        return int(np.argmax([self.index(c) for c in self.counters]))

    def update(self, arm, reward):
        self.t += 1
        self.counters[arm].add(reward)
