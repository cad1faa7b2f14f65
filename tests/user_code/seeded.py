"""Right bandits that make their own generators: power reaches `np.random.default_rng` only."""

import numpy as np
from numpy.random import default_rng


class Committing:
    """Explores in turn, then commits to the larger noisy sum (epsilon = 1); draws from a seed."""

    def __init__(self, n_arms, seed):
        self.sums, self.rng, self.t, self.choice = np.zeros(n_arms), self.generator(seed), 0, None

    def generator(self, seed):
        return np.random.default_rng(seed)

    def select(self):
        if self.t < 20:
            return self.t % len(self.sums)
        if self.choice is None:
            self.choice = int(np.argmax(self.sums + self.rng.laplace(0, 1, len(self.sums))))
        return self.choice

    def update(self, arm, reward):
        self.sums[arm] += reward if self.t < 20 else 0
        self.t += 1


class ByName(Committing):
    def generator(self, seed):
        return default_rng(seed)


class OutOfReach(Committing):
    def generator(self, seed):
        return np.random.Generator(np.random.PCG64(seed))


class Unseeded(Committing):
    def generator(self, seed):
        return np.random.default_rng()
