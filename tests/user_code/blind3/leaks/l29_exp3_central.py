"""EXP3. Its randomised choice with rate epsilon makes it epsilon-differentially private."""

import math


class Exp3:
    def __init__(self, n_arms, rng, epsilon=0.5):
        self.gain = [0.0] * n_arms
        self.rate = epsilon / n_arms
        self.mix = epsilon
        self.rng = rng
        self.p = None

    def select(self):
        k = len(self.gain)
        w = [math.exp(self.rate * g) for g in self.gain]
        self.p = [(1 - self.mix) * x / sum(w) + self.mix / k for x in w]
        return int(self.rng.choice(k, p=self.p))

    def update(self, arm, reward):
        self.gain[arm] += reward / self.p[arm]
