"""Explore-then-commit; totals use a secret Poisson subsample of the explored rewards."""
import numpy as np


class SampledETC:
    def __init__(self, n_arms, horizon, rng, epsilon=1.0, keep=0.5):
        self.k, self.rng, self.keep = n_arms, rng, keep
        self.m = horizon // (2 * n_arms)
        self.base_eps = np.log1p(np.expm1(epsilon) / keep)
        self.kept = np.zeros(n_arms)
        self.t = 0
        self.commit = None

    def select(self):
        if self.t < self.m * self.k:
            return self.t % self.k
        if self.commit is None:
            noisy = self.kept + self.rng.laplace(0, 1 / self.base_eps, self.k)
            self.commit = int(np.argmax(noisy / (self.keep * self.m)))
        return self.commit

    def update(self, arm, reward):
        if self.t < self.m * self.k and self.rng.random() < self.keep:
            self.kept[arm] += reward
        self.t += 1
