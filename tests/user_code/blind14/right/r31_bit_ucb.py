"""Locally private bandit: every reward becomes one randomised bit (epsilon = 1).

The reward is rounded at random to a bit, the bit goes through randomised
response, and the learner only ever stores that answer.
"""
from abc import ABC, abstractmethod

import numpy as np


class LocalChannel(ABC):
    @abstractmethod
    def privatise(self, reward):
        ...


class WarnerChannel(LocalChannel):
    def __init__(self, epsilon, rng):
        self.rng = rng
        self.keep = np.exp(epsilon) / (1.0 + np.exp(epsilon))

    def privatise(self, reward):
        bit = bool(self.rng.random() < reward)
        keep = bool(self.rng.random() < self.keep)
        answer = bit if keep else not bit
        return (float(answer) - (1.0 - self.keep)) / (2.0 * self.keep - 1.0)


class IndexLearner:
    def __init__(self, n_arms):
        self.pulls = np.zeros(n_arms, dtype=int)
        self.mass = np.zeros(n_arms)

    def choose(self):
        unseen = np.flatnonzero(self.pulls == 0)
        if unseen.size:
            return int(unseen[0])
        t = self.pulls.sum()
        index = self.mass / self.pulls + np.sqrt(0.6 * np.log(t) / self.pulls)
        return int(index.argmax())


class BitUCB(IndexLearner):
    def __init__(self, n_arms=2, horizon=40, epsilon=1.0, rng=None):
        super().__init__(n_arms)
        self.horizon = horizon
        self.channel = WarnerChannel(epsilon, rng or np.random.default_rng())

    def learn(self, arm, reward):
        self.pulls[arm] += 1
        self.mass[arm] += self.channel.privatise(reward)
