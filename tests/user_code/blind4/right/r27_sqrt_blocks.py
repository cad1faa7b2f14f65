"""Running totals by blocks: noisy finished blocks plus noisy single rewards of the open block."""
import numpy as np


class BlockSumGreedy:
    def __init__(self, epsilon=1.0, n_arms=2, horizon=64, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.width = int(np.ceil(np.sqrt(horizon)))
        self.half = epsilon / 2
        self.done = np.zeros(n_arms)
        self.open_noisy = np.zeros(n_arms)
        self.open_exact = np.zeros(n_arms)
        self.n = np.zeros(n_arms, int)

    def select(self):
        if self.n.min() < 2:
            return int(self.n.argmin())
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.n.size))
        return int(((self.done + self.open_noisy) / self.n).argmax())

    def update(self, arm, reward):
        self.n[arm] += 1
        self.open_exact[arm] += reward
        if self.n[arm] % self.width == 0:
            self.done[arm] += self.open_exact[arm] + self.rng.laplace(0, 1 / self.half)
            self.open_exact[arm] = self.open_noisy[arm] = 0.0
        else:
            self.open_noisy[arm] += reward + self.rng.laplace(0, 1 / self.half)
