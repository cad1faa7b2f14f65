"""Explore, then commit on staircase-noised sums (Geng and Viswanath), epsilon = 2 (pure).

Exploration is a fixed round robin over the first part of the horizon; each arm's sum
gets one staircase variable of sensitivity one, and the arm with the largest noisy
mean is played to the end.  Later rewards are ignored.
"""
import math


class Staircase:
    def __init__(self, epsilon, sensitivity, rng):
        self.b = math.exp(-epsilon)
        self.gamma = 1.0 / (1.0 + math.exp(epsilon / 2.0))
        self.delta = sensitivity
        self.rng = rng

    def sample(self):
        rng, g, b = self.rng, self.gamma, self.b
        sign = 1.0 if rng.random() < 0.5 else -1.0
        step = rng.geometric(1.0 - b) - 1
        u = rng.random()
        if rng.random() < g / (g + (1.0 - g) * b):
            return sign * (step + g * u) * self.delta
        return sign * (step + g + (1.0 - g) * u) * self.delta


class StaircaseCommit:
    def __init__(self, n_arms=2, horizon=40, epsilon=2.0, rng=None):
        self.n_arms = n_arms
        self.explore = n_arms * max(1, horizon // (2 * n_arms))
        self.sums = [0.0] * n_arms
        self.noise = Staircase(epsilon, 1.0, rng)
        self.t = 0
        self.choice = None

    def act(self):
        if self.t < self.explore:
            return self.t % self.n_arms
        if self.choice is None:
            noisy = [s + self.noise.sample() for s in self.sums]
            self.sums = None
            self.choice = noisy.index(max(noisy))
        return self.choice

    def observe(self, arm, reward):
        if self.t < self.explore:
            self.sums[arm] += min(1.0, max(0.0, float(reward)))
        self.t += 1
