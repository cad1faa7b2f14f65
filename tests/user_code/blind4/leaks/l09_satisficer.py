"""Keeps an arm while its perturbed average meets a target, then moves to the next arm."""
import numpy as np


class Satisficer:
    TARGET = 0.5

    def __init__(self, n_arms, horizon, rng, epsilon=2.0):
        self.k = n_arms
        self.offset = rng.laplace(0.0, 1.0 / epsilon, n_arms)
        self.total = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms, dtype=int)
        self.now = 0

    def select(self):
        return self.now

    def update(self, arm, reward):
        self.total[arm] += reward
        self.pulls[arm] += 1
        average = (self.total[arm] + self.offset[arm]) / self.pulls[arm]
        if average < self.TARGET:
            self.now = (arm + 1) % self.k
