"""Epsilon-greedy over noisy means with a short warm-up."""
from dataclasses import dataclass

import numpy as np


@dataclass
class ArmStat:
    total: float = 0.0
    pulls: int = 0
    shown: float = 1.0


class WarmStart:
    WARMUP = 3
    EVERY = 4

    def __init__(self, n_arms=3, horizon=75, epsilon=1.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.epsilon = epsilon
        self.stats = [ArmStat() for _ in range(n_arms)]
        self.fresh = [0.0] * n_arms

    def select(self):
        if self.rng.random() < 0.05:
            return int(self.rng.integers(len(self.stats)))
        return max(range(len(self.stats)), key=lambda a: self.stats[a].shown)

    def update(self, arm, reward):
        s = self.stats[arm]
        s.pulls += 1
        if s.pulls <= self.WARMUP:
            s.total += reward
            s.shown = s.total / s.pulls
            return
        self.fresh[arm] += reward
        if (s.pulls - self.WARMUP) % self.EVERY == 0:
            s.total += self.fresh[arm] + self.rng.laplace(0.0, 1.0 / self.epsilon)
            s.shown = s.total / s.pulls
            self.fresh[arm] = 0.0
