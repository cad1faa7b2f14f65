"""Greedy on the means of the last finished epoch."""
import numpy as np


class PrivateMean:
    def __init__(self, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng
        self.total, self.n = 0.0, 0

    def add(self, x):
        self.total += x
        self.n += 1

    @property
    def value(self):
        noisy = self.total + self.rng.laplace(0, 1 / self.epsilon)
        return noisy / max(self.n, 1)


class EpochGreedy:
    def __init__(self, n_arms=2, horizon=64, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.n_arms, self.epsilon = n_arms, epsilon
        self.epoch = max(2 * n_arms, horizon // 2)
        self.sample = 4 * n_arms
        self.t = 0

    def select(self):
        step = self.t % self.epoch
        if step == 0:
            self.means = [PrivateMean(self.epsilon, self.rng) for _ in range(self.n_arms)]
        if step < self.sample:
            return step % self.n_arms
        return max(range(self.n_arms), key=lambda a: self.means[a].value)

    def update(self, arm, reward):
        if self.t % self.epoch < self.sample:
            self.means[arm].add(float(reward))
        self.t += 1
