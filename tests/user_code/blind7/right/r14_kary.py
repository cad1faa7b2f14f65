"""Rewards as one of four letters, told by k-ary randomised response.

Right. A letter is told truthfully with probability e^eps / (e^eps + k - 1), and every other one with 1 /
(e^eps + k - 1); the ratio of any two is at most e^eps. Each reward is told once, and estimates come from
told letters.
"""

import math

import numpy as np


class KaryBandit:
    LETTERS = 4

    def __init__(self, K, rng, epsilon=1.5):
        self.rng = rng
        self.p = math.exp(epsilon) / (math.exp(epsilon) + self.LETTERS - 1)
        self.q = (1 - self.p) / (self.LETTERS - 1)
        self.counts = np.zeros((K, self.LETTERS))

    def _tell(self, letter):
        if self.rng.random() < self.p:
            return letter
        other = int(self.rng.integers(self.LETTERS - 1))
        return other + (other >= letter)

    def select(self):
        pulls = self.counts.sum(axis=1)
        if (pulls < 3).any():
            return int(np.argmin(pulls))
        shares = (self.counts / pulls[:, None] - self.q) / (self.p - self.q)
        return int(np.argmax(shares @ (np.arange(self.LETTERS) + 0.5)))

    def update(self, arm, reward):
        letter = min(int(reward * self.LETTERS), self.LETTERS - 1)
        self.counts[arm, self._tell(letter)] += 1
