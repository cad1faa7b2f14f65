"""UCB-V style index (empirical variance bonus) computed from perturbed rewards."""
import numpy as np


class NoisyUCBV:
    def __init__(self, n_arms, rng, epsilon=4.0):
        self.b = 1.0 / epsilon
        self.rng = rng
        self.s1, self.s2, self.n = np.zeros((3, n_arms))
        self.t = 0
        self.raw_log = []            # kept for the offline report only

    def select(self):
        if np.any(self.n == 0):
            return int(np.argmin(self.n))
        mean = self.s1 / self.n
        var = np.maximum(self.s2 / self.n - mean ** 2 - 2 * self.b ** 2, 0)
        lt = np.log(self.t + 1)
        return int(np.argmax(mean + np.sqrt(2 * var * lt / self.n) + 3 * self.b * lt / self.n))

    def update(self, arm, reward):
        self.raw_log.append((arm, reward))
        y = reward + self.rng.laplace(scale=self.b)
        self.s1[arm] += y
        self.s2[arm] += y * y
        self.n[arm] += 1
        self.t += 1
