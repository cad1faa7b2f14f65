"""Stays after a positive bit, moves on after a negative one."""
import numpy as np


class BitBandit:
    def __init__(self, n_arms=2, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.margin = 0.05
        self.arm = int(self.rng.integers(n_arms))

    def _bit(self, reward):
        p = np.clip(reward, self.margin, 1 - self.margin)
        return self.rng.binomial(1, p)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if not self._bit(reward):
            self.arm = (arm + 1) % self.n_arms
