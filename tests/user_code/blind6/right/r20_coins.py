"""Epoch bandit with integer arithmetic."""
from dataclasses import dataclass, field
from math import exp

import numpy as np


@dataclass
class CoinBandit:
    n_arms: int = 2
    epsilon: float = 1.5
    rng: np.random.Generator = None
    epoch: int = 5
    queue: list = field(default_factory=list)
    units: dict = field(default_factory=dict)
    favourite: int = 0

    def __post_init__(self):
        if self.rng is None:
            self.rng = np.random.default_rng()
        self._refill()

    def _refill(self):
        self.units = {k: 0 for k in range(self.n_arms)}
        self.queue = [k for k in range(self.n_arms) for _ in range(self.epoch)]
        self.queue += [self.favourite] * self.epoch
        self.left = self.n_arms * self.epoch

    def _half(self):
        step = exp(-self.epsilon / 10)
        n = 0
        while self.rng.random() < step:
            n += 1
        return n

    def select(self):
        return self.queue[0]

    def update(self, arm, reward):
        self.queue.pop(0)
        if self.left > 0:
            self.units[arm] += int(round(10 * reward))
            self.left -= 1
        if self.left == 0:
            noisy = {k: u + self._half() - self._half() for k, u in self.units.items()}
            self.favourite = max(noisy, key=noisy.get)
            self.queue = [self.favourite] * len(self.queue)
            self.left = -1
        if not self.queue:
            self._refill()
