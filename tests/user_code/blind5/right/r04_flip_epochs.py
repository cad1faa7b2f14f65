"""Epoch bandit that picks the arm of each exploitation stretch by permute-and-flip."""
import math

import numpy as np


class FlipEpochs:
    def __init__(self, n_arms=3, horizon=80, epsilon=1.5, rng=None):
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.rng = np.random.default_rng() if rng is None else rng
        self.probe = 3
        self.stretch = 7
        self._start_epoch()

    def _start_epoch(self):
        self.totals = [0.0] * self.n_arms
        self.queue = [a for a in range(self.n_arms) for _ in range(self.probe)]
        self.probing = True

    def _permute_and_flip(self):
        top = max(self.totals)
        for arm in self.rng.permutation(self.n_arms):
            if self.rng.random() <= math.exp(self.epsilon * (self.totals[arm] - top) / 2.0):
                return int(arm)
        raise AssertionError("the top arm always accepts")

    def select(self):
        return self.queue[0]

    def update(self, arm, reward):
        self.queue.pop(0)
        if self.probing:
            self.totals[arm] += reward
        if self.queue:
            return
        if self.probing:
            self.queue = [self._permute_and_flip()] * self.stretch
            self.probing = False
        else:
            self._start_epoch()
