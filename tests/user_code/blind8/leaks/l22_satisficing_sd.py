"""Satisficing bandit: keep an arm while its noisy batch mean is good enough.

FAULT: the engineer wanted noise "of size 1 / EPSILON" and turned it from a standard deviation into a Laplace scale by
dividing by sqrt(2).  The Laplace mechanism needs scale 1 / EPSILON, so each batch costs sqrt(2) EPSILON = 1.414 EPSILON.
Pair: first batch of 4 with sum 4 against sum 3 (one reward 1 -> 0).  Event: arm left after the first batch:
0.5 exp(-2 * 1.1314) = 0.0520 against 0.5 exp(-1.1314) = 0.1613, loss 1.131 (claim 0.8).
"""
from dataclasses import dataclass
import math

EPSILON = 0.8
SD = 1.0 / EPSILON


@dataclass
class Satisficer:
    n_arms: int
    rng: object
    batch: int = 4
    aspiration: float = 0.5

    def __post_init__(self):
        self.arm = 0
        self.total = 0.0
        self.count = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.total += reward
        self.count += 1
        if self.count == self.batch:
            noisy_mean = (self.total + self.rng.laplace(0.0, SD / math.sqrt(2.0))) / self.batch
            if noisy_mean < self.aspiration:
                self.arm = (self.arm + 1) % self.n_arms
            self.total, self.count = 0.0, 0
