"""Gaussian Thompson sampling on batch averages released with the Gaussian mechanism."""
import numpy as np


class GaussPosterior:
    DELTA = 1e-5

    def __init__(self, n_arms=2, horizon=100, epsilon=0.8, rng=None):
        self.rng = rng or np.random.default_rng()
        self.sigma = np.sqrt(2.0 * np.log(1.25 / self.DELTA)) / epsilon
        self.precision = np.full(n_arms, 1.0)
        self.mean = np.full(n_arms, 0.5)
        self.batch_size = np.full(n_arms, 2)
        self.pending = np.zeros(n_arms)
        self.filled = np.zeros(n_arms, dtype=int)
        self.current = None

    def select(self):
        if self.current is None:
            draws = self.rng.normal(self.mean, 1.0 / np.sqrt(self.precision))
            self.current = int(np.argmax(draws))
        return self.current

    def update(self, arm, reward):
        self.pending[arm] += reward
        self.filled[arm] += 1
        if self.filled[arm] < self.batch_size[arm]:
            return
        n = self.filled[arm]
        avg = (self.pending[arm] + self.rng.normal(0.0, self.sigma)) / n
        weight = 1.0 / (0.25 / n + (self.sigma / n) ** 2)
        total = self.precision[arm] + weight
        self.mean[arm] = (self.precision[arm] * self.mean[arm] + weight * avg) / total
        self.precision[arm] = total
        self.pending[arm] = 0.0
        self.filled[arm] = 0
        self.batch_size[arm] *= 2
        self.current = None
