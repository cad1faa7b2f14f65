"""Sliding window made of noisy blocks.

Every block of six rounds gives one noisy total an arm. A reward is in one block and moves the total of one arm by 1; noise of
scale 1/epsilon is drawn once a block. The window adds up the last three noisy blocks.
"""

from collections import deque

import numpy as np


class SlidingWindow:
    def __init__(self, n_arms, rng, epsilon=1.0, block=6, window=3):
        self.rng, self.n_arms, self.scale, self.block = rng, n_arms, 1 / epsilon, block
        self.past = deque(maxlen=window)
        self.current = np.zeros(n_arms)
        self.counts = np.zeros(n_arms)
        self.t = 0

    def select(self):
        if self.t % self.block < self.n_arms or not self.past:
            return self.t % self.n_arms
        sums = sum(s for s, _ in self.past)
        pulls = sum(n for _, n in self.past)
        return int(np.argmax(sums / np.maximum(pulls, 1)))

    def update(self, arm, reward):
        self.current[arm] += reward
        self.counts[arm] += 1
        self.t += 1
        if self.t % self.block == 0:
            noise = self.rng.laplace(0, self.scale, self.n_arms)
            self.past.append((self.current + noise, self.counts))
            self.current, self.counts = np.zeros(self.n_arms), np.zeros(self.n_arms)
