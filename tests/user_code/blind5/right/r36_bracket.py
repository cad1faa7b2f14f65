"""Knock-out bracket over the arms, written as a recursive generator."""
import math

import numpy as np


class Bracket:
    def __init__(self, n_arms=4, horizon=72, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.epsilon = epsilon
        self.games = max(1, horizon // (4 * n_arms))
        self.script = self._season(list(range(n_arms)))
        self.next_arm = next(self.script)

    def _noise(self):
        u, v = 1.0 - self.rng.random(), 1.0 - self.rng.random()
        return math.log(u / v) / self.epsilon

    def _knockout(self, arms):
        if len(arms) == 1:
            return arms[0]
        half = len(arms) // 2
        left = yield from self._knockout(arms[:half])
        right = yield from self._knockout(arms[half:])
        margin = 0.0
        for _ in range(self.games):
            margin += yield left
            margin -= yield right
        return left if margin + self._noise() > 0 else right

    def _season(self, arms):
        champion = yield from self._knockout(arms)
        while True:
            yield champion

    def select(self):
        return self.next_arm

    def update(self, arm, reward):
        self.next_arm = self.script.send(reward)
