"""EXP3 fed with individually noised rewards."""
import numpy as np


class PrivateEXP3:
    def __init__(self, n_arms, horizon, rng, epsilon=1.0, gamma=0.1):
        self.K, self.rng, self.gamma = n_arms, rng, gamma
        self.b = 1.0 / epsilon
        self.eta = np.sqrt(np.log(n_arms) / (n_arms * horizon)) / (1 + 2 * self.b)
        self.logw = np.zeros(n_arms)
        self.p = np.full(n_arms, 1 / n_arms)

    def select(self):
        w = np.exp(self.logw - self.logw.max())
        self.p = (1 - self.gamma) * w / w.sum() + self.gamma / self.K
        self.p /= self.p.sum()
        return int(self.rng.choice(self.K, p=self.p))

    def update(self, arm, reward):
        noisy = reward + self.rng.laplace(0, self.b)
        self.logw[arm] += self.eta * noisy / self.p[arm]
