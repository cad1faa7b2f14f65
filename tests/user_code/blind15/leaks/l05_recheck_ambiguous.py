"""Epsilon-greedy on private bits, with a quality check of the later data.

Rewards are privatised by stochastic rounding and randomised response; the scores
are debiased means of those bits.  From the middle of the horizon on, a reading
that is neither clearly good nor clearly bad is checked by one more pull of the same
arm.  Claims epsilon = 1.0 (pure).
"""
import math

import numpy as np


class BitLearner:
    def __init__(self, n_arms, epsilon, rng):
        self.n_arms, self.rng = n_arms, rng
        self.keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        self.ones = np.zeros(n_arms)
        self.seen = np.full(n_arms, 1e-9)

    def learn(self, arm, reward):
        bit = self.rng.random() < reward
        if self.rng.random() > self.keep:
            bit = not bit
        self.ones[arm] += bit
        self.seen[arm] += 1

    def best(self):
        rate = (self.ones / self.seen - (1 - self.keep)) / (2 * self.keep - 1)
        return int(np.argmax(np.where(self.seen < 1, 2.0, rate)))


class CheckedGreedy(BitLearner):
    EXPLORE = 0.15

    def __init__(self, n_arms=4, horizon=40, epsilon=1.0, rng=None):
        super().__init__(n_arms, epsilon, rng)
        self.half = horizon // 2
        self.round = 0
        self.recheck = None

    def select(self):
        if self.recheck is not None:
            return self.recheck
        if self.rng.random() < self.EXPLORE:
            return int(self.rng.integers(self.n_arms))
        return self.best()

    def update(self, arm, reward):
        self.round += 1
        self.learn(arm, reward)
        unclear = abs(reward - 0.5) < 0.06
        done = self.recheck is not None
        self.recheck = arm if self.round > self.half and unclear and not done else None
