"""Win-stay lose-shift with randomised-response reports; reports are cached for speed."""
from functools import lru_cache
import math


class CachedReports:
    def __init__(self, n_arms, rng, epsilon=1.0):
        self.n_arms = n_arms
        self.arm = 0
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))

        @lru_cache(maxsize=None)
        def report(level):
            bit = level >= 5
            return bit if rng.random() < truth else not bit

        self._report = report

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if not self._report(int(10 * reward)):
            self.arm = (self.arm + 1) % self.n_arms
