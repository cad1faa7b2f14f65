"""Successive elimination with noisy sums, and a short cut for arms that never paid.

Leak. An arm whose exact sum of a phase is zero is dropped at once ("it is broken"), without noise. Worst
pair: an arm that never pays against one that pays once: on the one side it is gone for sure, on the other
it stays with positive probability. Epsilon is infinite.
"""

import numpy as np


class Eliminator:
    def __init__(self, n_arms, rng, epsilon=1.0, pulls=4):
        self.rng, self.epsilon, self.pulls = rng, epsilon, pulls
        self.alive = list(range(n_arms))
        self.sums = np.zeros(n_arms)
        self.step = 0

    def select(self):
        return self.alive[self.step % len(self.alive)]

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.step += 1
        if self.step == self.pulls * len(self.alive):
            self._review()

    def _review(self):
        working = [a for a in self.alive if self.sums[a] > 0] or self.alive
        noisy = self.sums + self.rng.laplace(0, 1 / self.epsilon, len(self.sums))
        top = max(noisy[a] for a in working)
        self.alive = [a for a in working if noisy[a] > top - self.pulls]
        self.sums[:] = 0
        self.step = 0
