"""Epsilon-greedy choice of a banner with a binary tree counter for each banner.

Claim: pure epsilon = 2 for one changed reward.
Proof.  The reward of the last round is never used for an action, so at most 31 rewards enter counters
and every counter has partial sums on levels 0..4 only.  A reward lies in at most one partial sum of each
level of one counter and moves each of them by at most 1.  Every partial sum is made once and gets Laplace
noise of scale 5/eps, hence the noisy partial sums together are eps-DP (adaptive composition of 5 releases
at eps/5); pull counts are functions of the actions, and the choices only see noisy partial sums.
"""
from dataclasses import dataclass, field
from typing import Any

EPSILON = 2.0
ARMS = 3
HORIZON = 32


@dataclass
class TreeCounter:
    rng: Any
    levels: int
    n: int = 0
    exact: list = field(default_factory=list)
    noisy: list = field(default_factory=list)

    def __post_init__(self):
        self.exact = [0.0] * (self.levels + 1)
        self.noisy = [0.0] * (self.levels + 1)

    def add(self, value):
        self.n += 1
        level = 0
        while (self.n >> level) & 1 == 0:
            level += 1
        total = value
        for low in range(level):
            total += self.exact[low]
            self.exact[low] = 0.0
            self.noisy[low] = 0.0
        self.exact[level] = total
        self.noisy[level] = total + self.rng.laplace(0.0, self.levels / EPSILON)

    def mean(self):
        return sum(self.noisy) / self.n


@dataclass
class BannerGreedy:
    n_arms: int
    rng: Any
    horizon: int = HORIZON
    explore: float = 0.1

    def __post_init__(self):
        levels = (self.horizon - 1).bit_length()
        self.counters = [TreeCounter(self.rng, levels) for _ in range(self.n_arms)]

    def select(self):
        for arm, counter in enumerate(self.counters):
            if counter.n == 0:
                return arm
        if self.rng.random() < self.explore:
            return int(self.rng.integers(self.n_arms))
        means = [c.mean() for c in self.counters]
        return means.index(max(means))

    def update(self, arm, reward):
        self.counters[arm].add(float(reward))
