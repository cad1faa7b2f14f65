"""Private linear bandit with a cache for returning users: who was happy with an arm is shown it again."""
import numpy as np


class MemoryBandit:
    def __init__(self, n_arms, dim, horizon, epsilon=2.0, rng=None):
        self.rng, self.dim = rng, dim
        self.b = 2 * np.sqrt(dim) / epsilon
        self.cache = []
        self.g = np.zeros(dim)
        self.theta = np.zeros(dim)
        self.n = 0

    def select(self, context):
        for stored, arm, reward in reversed(self.cache):
            if np.linalg.norm(stored - context) < 0.3 and reward > 0.5:
                return arm
        if self.n % 4 == 0:
            return int(self.rng.integers(len(context)))
        return int(np.argmax(context @ self.theta))

    def update(self, context, arm, reward):
        self.cache.append((np.array(context), arm, reward))
        self.g = self.g + reward * context[arm]
        self.n += 1
        if self.n % 10 == 0:
            self.theta = self.g + self.rng.laplace(0, self.b, self.dim)
            self.g = np.zeros(self.dim)
