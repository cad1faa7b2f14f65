"""Sliding window of the last ten rounds; its totals get Laplace noise whenever an arm is chosen."""

from collections import deque


class SlidingWindow:
    def __init__(self, n_arms, rng, epsilon=1.0, window=10):
        self.n_arms, self.rng, self.epsilon = n_arms, rng, epsilon
        self.recent = deque(maxlen=window)

    def select(self):
        totals = [self.rng.laplace(0, 1 / self.epsilon) for _ in range(self.n_arms)]
        for arm, reward in self.recent:
            totals[arm] += reward
        return totals.index(max(totals))

    def update(self, arm, reward):
        self.recent.append((arm, reward))
