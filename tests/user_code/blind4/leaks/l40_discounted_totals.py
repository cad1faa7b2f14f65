"""Greedy on discounted reward totals, perturbed at every decision."""
import numpy as np


class DiscountedGreedy:
    GAMMA = 0.8

    def __init__(self, n_arms, epsilon=1.0, rng=None):
        self.rng = rng
        self.b = 1.0 / epsilon
        self.total = np.zeros(n_arms)

    def select(self):
        noisy = self.total + self.rng.laplace(0.0, self.b, self.total.size)
        return int(noisy.argmax())

    def update(self, arm, reward):
        self.total *= self.GAMMA
        self.total[arm] += reward
