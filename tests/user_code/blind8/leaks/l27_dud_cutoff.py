"""Noisy batch means per arm, with a practical shortcut for dead arms.

FAULT: two raw duds (rewards below 0.1) in a row end the batch at once, so the length of the visit, which is seen,
shows the rewards without any noise.  The noisy mean afterwards does not help.
Pair: first batch of arm 0 begins (0, 0) against (0, 1).  Event: round 2 is played with arm 1: probability 1 against 0,
infinite loss (claim 1.5).  Arms are visited in order in the first sweep.
"""
from collections import defaultdict

EPSILON = 1.5


class DudCutoff:
    LENGTH = 5

    def __init__(self, n_arms, rng):
        self.n_arms = n_arms
        self.rng = rng
        self.means = {}
        self.visit = defaultdict(list)
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        batch = self.visit[arm]
        batch.append(float(reward))
        dead = len(batch) >= 2 and max(batch[-2:]) < 0.1
        if len(batch) < self.LENGTH and not dead:
            return
        self.means[arm] = (sum(batch) + self.rng.laplace(0.0, 1.0 / EPSILON)) / len(batch)
        self.visit.clear()
        fresh = [a for a in range(self.n_arms) if a not in self.means]
        self.arm = fresh[0] if fresh else max(self.means, key=self.means.__getitem__)
