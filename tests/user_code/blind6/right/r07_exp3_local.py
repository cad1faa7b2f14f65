"""EXP3 over privatised rewards."""
import numpy as np


class LocalExp3:
    gamma = 0.15

    def __init__(self, n_arms=3, horizon=60, epsilon=2.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.eps = epsilon
        self.logw = np.zeros(n_arms)
        self.eta = np.sqrt(np.log(n_arms) / (n_arms * horizon))

    @property
    def probs(self):
        w = np.exp(self.logw - self.logw.max())
        return (1 - self.gamma) * w / w.sum() + self.gamma / w.size

    def select(self):
        return int(self.rng.choice(self.logw.size, p=self.probs))

    def update(self, arm, reward):
        p = self.probs[arm]
        observed = reward + self.rng.laplace(0.0, 1.0 / self.eps)
        self.logw[arm] += self.eta * observed / p
