"""Bandit with a small replay memory whose rewards are privatised on the way out."""
from collections import deque
from math import exp

import numpy as np


class ReplayBits:
    def __init__(self, n_arms=2, horizon=90, epsilon=1.0, rng=None, memory=3):
        self.rng = rng or np.random.default_rng()
        self.epsilon = epsilon
        self.memory = deque(maxlen=memory)
        self.n_arms = n_arms
        self.arm = 0

    def _privatise(self, reward):
        e = exp(self.epsilon)
        return self.rng.random() < (reward * (e - 1) + 1) / (e + 1)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.memory.append((arm, reward))
        votes = [0] * self.n_arms
        for old_arm, old_reward in self.memory:
            votes[old_arm] += 1 if self._privatise(old_reward) else -1
        best = max(votes)
        leaders = [a for a, v in enumerate(votes) if v == best]
        self.arm = arm if votes[arm] > 0 else leaders[int(self.rng.integers(len(leaders)))]
        if votes[arm] <= 0 and self.arm == arm:
            self.arm = (arm + 1) % self.n_arms
