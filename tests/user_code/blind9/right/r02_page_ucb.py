"""A/B/C test of pages, UCB on local reports.

Proof: each reward is used once, through reward + Laplace(1/EPSILON), which is EPSILON-DP since a
reward moves by at most 1. Everything else depends on the noisy reports and past actions only.
"""
import math

EPSILON = 2.0


class PageUCB:
    def __init__(self, n_arms, rng):
        self.rng = rng
        self.n = [0] * n_arms
        self.s = [0.0] * n_arms

    def select(self):
        for a, n in enumerate(self.n):
            if n == 0:
                return a
        total = sum(self.n)
        score = [s / n + math.sqrt(math.log(total) / n) for s, n in zip(self.s, self.n)]
        return score.index(max(score))

    def update(self, arm, reward):
        self.n[arm] += 1
        self.s[arm] += reward + (self.rng.exponential(1 / EPSILON) - self.rng.exponential(1 / EPSILON))
