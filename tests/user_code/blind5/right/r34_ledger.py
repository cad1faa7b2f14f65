"""Batched bandit which spends a per-batch budget on two noisy statistics."""
import functools

import numpy as np


def charged(share):
    """Charge a share of the batch budget; refuse when it is used up."""
    def wrap(fn):
        @functools.wraps(fn)
        def inner(self, values):
            if self.ledger + share > 1.0 + 1e-12:
                raise RuntimeError("budget exhausted")
            self.ledger += share
            return fn(self, values) + self.rng.laplace(0.0, 1.0 / (share * self.epsilon))
        return inner
    return wrap


class LedgerBandit:
    def __init__(self, n_arms=2, horizon=80, epsilon=2.0, rng=None):
        self.rng, self.epsilon = rng or np.random.default_rng(), epsilon
        self.score = [1.0] * n_arms
        self.arm, self.values, self.ledger = 0, [], 0.0
        self.size = 8

    @charged(0.5)
    def total(self, values):
        return sum(values)

    @charged(0.5)
    def hits(self, values):
        return sum(v > 0.5 for v in values)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.values.append(reward)
        if len(self.values) < self.size:
            return
        self.ledger = 0.0
        fresh = 0.5 * (self.total(self.values) + self.hits(self.values)) / self.size
        self.score[arm] = 0.5 * self.score[arm] + 0.5 * fresh
        self.values = []
        explore = self.rng.random() < 0.2
        self.arm = int(self.rng.integers(len(self.score))) if explore else int(np.argmax(self.score))
