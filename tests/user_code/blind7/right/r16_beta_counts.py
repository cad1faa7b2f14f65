"""Thompson sampling from the noisy number of successes of each batch.

Right. Successes of a batch (rewards of at least 1/2) get two-sided geometric noise with ratio e^-eps, once.
Failures are the public number of pulls minus the noisy successes, not a second answer. A reward is in one
batch; batches that do not fill are never used.
"""

import numpy as np


class BatchedThompson:
    def __init__(self, n_arms, rng, epsilon=1.0, batch=5):
        self.rng, self.epsilon, self.batch = rng, epsilon, batch
        self.open = [[] for _ in range(n_arms)]
        self.wins, self.seen = np.zeros(n_arms), np.zeros(n_arms)

    def _noise(self):
        first, second = self.rng.geometric(1 - np.exp(-self.epsilon), 2)
        return int(first - second)

    def select(self):
        wins = np.clip(self.wins, 0, self.seen)
        return int(self.rng.beta(wins + 1, self.seen - wins + 1).argmax())

    def update(self, arm, reward):
        self.open[arm].append(reward >= 0.5)
        if len(self.open[arm]) == self.batch:
            self.wins[arm] += sum(self.open[arm]) + self._noise()
            self.seen[arm] += self.batch
            self.open[arm] = []
