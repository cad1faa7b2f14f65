"""Greedy bandit on locally noised rewards (Laplace(1/eps) on each) with one warm restart at
three quarters of the horizon for arms that were hardly played.
K = 4, T = 40, epsilon = 1 (pure).
"""
from collections import deque
import numpy as np


class Arm:
    def __init__(self):
        self.noisy_total, self.pulls = 0.0, 0
        self.history = deque(maxlen=8)
        self.prior = None

    @property
    def estimate(self):
        if self.prior is not None:
            return (self.prior + self.noisy_total) / (1 + self.pulls)
        return self.noisy_total / self.pulls

    def restart(self):
        """The noise drowns one or two rewards: start again from what was seen."""
        self.prior = float(np.mean(self.history))
        self.noisy_total, self.pulls = 0.0, 0


class WarmRestartGreedy:
    def __init__(self, n_arms=4, horizon=40, epsilon=1.0, rng=None):
        self.rng, self.scale = rng, 1.0 / epsilon
        self.arms = [Arm() for _ in range(n_arms)]
        self.restart_at = 3 * horizon // 4
        self.t = 0

    def select(self):
        if self.t < len(self.arms):
            return self.t
        if self.t == self.restart_at:
            for arm in self.arms:
                if arm.pulls <= 2:
                    arm.restart()
        return max(range(len(self.arms)), key=lambda a: self.arms[a].estimate)

    def update(self, a, reward):
        arm = self.arms[a]
        arm.history.append(reward)
        arm.noisy_total += reward + self.rng.laplace(0.0, self.scale)
        arm.pulls += 1
        self.t += 1
