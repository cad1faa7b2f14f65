"""A bandit with select and update.

Privacy. update() puts a reward into the buffer of its arm. When a buffer holds four rewards, its sum plus one
Laplace(1 / eps) variable is added to the arm's score and the buffer is emptied. A reward is in one buffer, moves
one released value by at most 1, and select() sees scores and numbers of pulls only: eps-DP.
"""

import numpy as np

EPSILON = 1.0


class PrivateGreedy:
    def __init__(self, batch=4, epsilon=EPSILON):
        self.batch = batch
        self.epsilon = epsilon
        self.buffers = {}
        self.scores = {}
        self.closed = {}

    def select(self, t, arms, rng):
        arms = list(arms)
        if t % 4 == 3 or not self.scores:
            return arms[int(rng.integers(len(arms)))]
        return max(arms, key=lambda a: self.scores.get(a, 0.0) / max(1, self.closed.get(a, 0)))

    def update(self, arm, reward, rng):
        buf = self.buffers.setdefault(arm, [])
        buf.append(float(reward))
        if len(buf) == self.batch:
            noisy = sum(buf) + rng.laplace(0.0, 1.0 / self.epsilon)
            self.scores[arm] = self.scores.get(arm, 0.0) + noisy
            self.closed[arm] = self.closed.get(arm, 0) + self.batch
            self.buffers[arm] = []
