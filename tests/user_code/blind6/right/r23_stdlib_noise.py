"""Phased greedy with the standard library's generator."""
import random

import numpy as np


class PhaseBandit:
    PHASE = 4

    def __init__(self, n_arms=3, epsilon=1.5, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self._py = random.Random(int(rng.integers(2**62)))
        self._eps = epsilon
        self._stats = [(0.0, 0)] * n_arms
        self._current, self._left, self._acc = 0, self.PHASE, 0.0

    def select(self):
        return self._current

    def update(self, arm, reward):
        self._acc += float(reward)
        self._left -= 1
        if self._left:
            return
        noise = self._py.expovariate(self._eps) - self._py.expovariate(self._eps)
        total, n = self._stats[arm]
        self._stats[arm] = (total + self._acc + noise, n + self.PHASE)
        self._acc, self._left = 0.0, self.PHASE
        self._current = self._next()

    def _next(self):
        for k, (_, n) in enumerate(self._stats):
            if n == 0:
                return k
        if self._py.random() < 0.25:
            return self._py.randrange(len(self._stats))
        return max(range(len(self._stats)), key=lambda k: self._stats[k][0] / self._stats[k][1])
