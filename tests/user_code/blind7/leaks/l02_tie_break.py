"""Noisy whole-numbered counts of successes; ties are broken by the exact counts.

Leak. The two-sided geometric noise keeps its epsilon, but whole numbers tie often, and then the raw counts
decide. Worst pair: equal counts against one success less for the first arm. It wins with P(D >= 0) on one
side and P(D >= 2) on the other, D the difference of the noises: log ratio 3.02 where 2 is claimed.
"""

import numpy as np


class CountLeader:
    def __init__(self, n_arms, rng, epsilon=2.0, explore=5):
        self.rng, self.explore, self.t = rng, explore * n_arms, 0
        self.tail = np.exp(-epsilon)
        self.wins = [0] * n_arms
        self.leader = None

    def _flip(self):
        n = 0
        while self.rng.random() < self.tail:
            n += 1
        return n

    def _elect(self):
        noisy = [w + self._flip() - self._flip() for w in self.wins]
        ranking = sorted(range(len(noisy)), key=lambda a: (noisy[a], self.wins[a], -a), reverse=True)
        return ranking[0]

    def select(self):
        if self.t < self.explore:
            return self.t % len(self.wins)
        if self.leader is None:
            self.leader = self._elect()
        return self.leader

    def update(self, arm, reward):
        if self.t < self.explore:
            self.wins[arm] += int(reward >= 0.5)
        self.t += 1
