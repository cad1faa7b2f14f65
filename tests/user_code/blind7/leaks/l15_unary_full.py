"""Unary encoding of rewards with the full epsilon for every bit.

Leak. Each of three bits is kept with probability e^eps / (1 + e^eps), but two rewards of different buckets
differ in two bits. The next arm is the place of the first hot bit. Worst pair: a reward of 0 against 1:
bits (0, 0, 1) have the ratio (p / (1 - p))^2 = e^(2 eps).
"""

import numpy as np


class HotBits:
    def __init__(self, n_arms, rng, epsilon=1.0):
        self.n_arms, self.rng = n_arms, rng
        self.keep = np.exp(epsilon) / (1 + np.exp(epsilon))
        self.arm = 0

    def perturb(self, reward):
        bits = np.zeros(self.n_arms, dtype=bool)
        bits[min(int(reward * self.n_arms), self.n_arms - 1)] = True
        flips = self.rng.random(self.n_arms) > self.keep
        return np.where(flips, ~bits, bits)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        hot = np.flatnonzero(self.perturb(reward))
        self.arm = int(hot[0]) if hot.size else arm
