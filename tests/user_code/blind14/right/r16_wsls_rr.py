"""Win-stay / lose-shift on locally privatised feedback.  Epsilon = 1.5 (pure, local).

Every reward is rounded to a bit at random and the bit goes through randomised
response before the policy sees it.  K = 3, T = 30.
"""
from abc import ABC, abstractmethod
import numpy as np


class LocalPolicy(ABC):
    """Base class: privatises on the way in; sub-classes get bits only."""

    def __init__(self, n_arms=3, horizon=30, epsilon=1.5, rng=None):
        self.n_arms = n_arms
        self.horizon = horizon
        self.rng = rng if rng is not None else np.random.default_rng()
        self._keep = np.exp(epsilon) / (1.0 + np.exp(epsilon))

    def _privatise(self, reward):
        bit = self.rng.random() < reward
        truthful = self.rng.random() < self._keep
        return bool(bit) if truthful else not bit

    def update(self, arm, reward):
        self.learn(arm, self._privatise(min(max(reward, 0.0), 1.0)))

    @abstractmethod
    def select(self):
        ...

    @abstractmethod
    def learn(self, arm, bit):
        ...


class WinStayLoseShift(LocalPolicy):
    def __init__(self, n_arms=3, horizon=30, epsilon=1.5, rng=None):
        super().__init__(n_arms, horizon, epsilon, rng)
        self.current = int(self.rng.integers(n_arms))

    def select(self):
        return self.current

    def learn(self, arm, bit):
        if not bit:
            step = 1 + int(self.rng.integers(self.n_arms - 1))
            self.current = (arm + step) % self.n_arms
        else:
            self.current = arm
