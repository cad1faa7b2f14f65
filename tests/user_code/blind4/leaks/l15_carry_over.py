"""Phased learner; each comparison uses the newest pulls and those of the phase before."""
import numpy as np


class CarryOver:
    NEW, HOLD = 6, 6

    def __init__(self, n_arms, rng, epsilon=1.0):
        self.k, self.rng, self.b = n_arms, rng, 1.0 / epsilon
        self.fresh = [[] for _ in range(n_arms)]
        self.previous = [[] for _ in range(n_arms)]
        self.queue = self._exploration()

    def _exploration(self):
        return [a for _ in range(self.NEW) for a in range(self.k)]

    def select(self):
        return self.queue[0]

    def update(self, arm, reward):
        self.queue.pop(0)
        exploring = len(self.fresh[-1]) < self.NEW
        if exploring:
            self.fresh[arm].append(reward)
            if len(self.fresh[-1]) == self.NEW:
                score = [sum(f) + sum(p) + self.rng.laplace(0, self.b)
                         for f, p in zip(self.fresh, self.previous)]
                self.queue = [int(np.argmax(score))] * self.HOLD
        elif not self.queue:
            self.previous, self.fresh = self.fresh, [[] for _ in range(self.k)]
            self.queue = self._exploration()
