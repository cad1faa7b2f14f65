"""Greedy learner on perturbed credits; idle rounds (no reward) leave the credits alone."""
import numpy as np


class SparseCredit:
    def __init__(self, n_arms, horizon, rng, epsilon=2.0):
        self.rng, self.scale = rng, 1.0 / epsilon
        self.credit = np.zeros(n_arms)
        self.t = 0

    def select(self):
        if self.t < self.credit.size:
            return self.t
        return int(np.argmax(self.credit))

    def update(self, arm, reward):
        self.t += 1
        if not reward:
            return
        self.credit[arm] += reward + self.rng.laplace(0.0, self.scale)
