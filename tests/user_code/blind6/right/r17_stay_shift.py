"""Win-stay, lose-shift."""
import math

import numpy as np


class StayShift:
    def __init__(self, n_arms=3, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        self.rng = np.random.default_rng() if rng is None else rng
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        won = reward >= 0.5
        if self.rng.uniform() > self.keep:
            won = not won
        if not won:
            self.arm = (arm + 1) % self.n_arms
