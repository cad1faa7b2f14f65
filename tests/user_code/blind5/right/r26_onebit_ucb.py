"""UCB over rewards that are each compressed to a single private bit."""
import numpy as np


class OneBitUCB:
    def __init__(self, n_arms=4, horizon=100, epsilon=1.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.e = np.exp(epsilon)
        self.ones = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms)

    def _bit(self, x):
        return self.rng.random() < (1.0 + x * (self.e - 1.0)) / (self.e + 1.0)

    def _means(self):
        share = self.ones / self.pulls
        return (share * (self.e + 1.0) - 1.0) / (self.e - 1.0)

    def select(self):
        if (self.pulls == 0).any():
            return int(np.flatnonzero(self.pulls == 0)[0])
        bonus = np.sqrt(np.log(self.pulls.sum() + 1) / self.pulls)
        return int(np.argmax(self._means() + bonus))

    def update(self, arm, reward):
        self.ones[arm] += self._bit(min(max(reward, 0.0), 1.0))
        self.pulls[arm] += 1
