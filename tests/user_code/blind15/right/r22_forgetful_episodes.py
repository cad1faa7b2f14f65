"""Adaptive-episode private UCB in the manner of AdaP-UCB. Claims epsilon = 1, pure.

An arm is pulled in episodes of doubling length; only the mean of its latest finished episode is kept, with
Laplace noise of scale 1 / (epsilon * length). Every reward therefore meets exactly one noise draw.
"""
import math

import numpy as np


class EpisodicUCB:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.k, self.horizon, self.epsilon, self.rng = n_arms, horizon, epsilon, rng
        self.private_mean = np.zeros(n_arms)
        self.length = np.zeros(n_arms, dtype=int)       # length of the latest finished episode
        self.clock = 0
        self._open(0)

    def _open(self, arm):
        self.arm = arm
        self.target = max(1, 2 * int(self.length[arm]))
        self.buffer = []

    def _indices(self):
        log_t = math.log(self.clock + 1)
        n = self.length
        return self.private_mean + np.sqrt(log_t / (2 * n)) * 0.7 + 0.3 * log_t / (self.epsilon * n)

    def choose(self):
        return self.arm

    def learn(self, arm, reward):
        self.buffer.append(reward)
        self.clock += 1
        if len(self.buffer) < self.target:
            return
        n = len(self.buffer)
        self.private_mean[arm] = np.mean(self.buffer) + self.rng.laplace(0.0, 1.0 / (self.epsilon * n))
        self.length[arm] = n
        untried = np.flatnonzero(self.length == 0)
        self._open(int(untried[0]) if untried.size else int(np.argmax(self._indices())))
