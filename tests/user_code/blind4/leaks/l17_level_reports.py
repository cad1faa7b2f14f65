"""Win-stay lose-shift on five-level reward reports given by randomised response."""
import math


class WinStay:
    LEVELS = 5

    def __init__(self, n_arms, rng, epsilon=1.0):
        self.n_arms, self.rng = n_arms, rng
        self.p = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        self.arm = 0

    def _report(self, reward):
        level = min(int(reward * self.LEVELS), self.LEVELS - 1)
        if self.rng.random() < self.p:
            return level
        rest = [v for v in range(self.LEVELS) if v != level]
        return rest[int(self.rng.integers(len(rest)))]

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self._report(reward) < self.LEVELS - 1:
            self.arm = (arm + 1) % self.n_arms
