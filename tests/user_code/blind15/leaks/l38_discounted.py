"""Discounted private bandit for drifting rewards; K = 2, horizon 60, claimed epsilon = 0.5.

Rewards are summed with discount 0.9.  A reward has weight at most 1 in the discounted sum, which
therefore has sensitivity 1 and is published with Laplace(1/epsilon) noise.  Arms take turns
in even rounds, odd rounds go to the better published sum.  Pure DP is claimed.
"""
from abc import ABC, abstractmethod

import numpy as np


class Agent(ABC):
    def __init__(self, n_arms=2, horizon=60, epsilon=0.5, rng=None):
        self.n_arms, self.horizon = n_arms, horizon
        self.epsilon, self.rng = epsilon, rng
        self.t = 0

    @abstractmethod
    def scores(self):
        ...

    @abstractmethod
    def absorb(self, arm, reward):
        ...

    def select(self):
        if self.t % 2 == 0:
            return (self.t // 2) % self.n_arms
        return int(np.argmax(self.scores()))

    def update(self, arm, reward):
        self.absorb(arm, reward)
        self.t += 1


class Discounted(Agent):
    gamma = 0.9
    sensitivity = 1.0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sums = np.zeros(self.n_arms)

    def absorb(self, arm, reward):
        self.sums *= self.gamma
        if self.t % 2 == 0:
            self.sums[arm] += reward

    def scores(self):
        scale = self.sensitivity / self.epsilon
        return self.sums + self.rng.laplace(0.0, scale, size=self.n_arms)
