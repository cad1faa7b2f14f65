"""Screening of treatments against a public benchmark, with geometric noise.

Arm 0 is the standard treatment with a published success rate of one half.
Every other arm gets a pilot of `pilot` patients; outcomes are rounded at random
to success / failure, the number of successes gets two-sided geometric noise
with ratio exp(-epsilon), and the arm is accepted if the noisy count passes
half of the pilot.  The rest of the trial rotates over the accepted arms.
Each outcome belongs to one pilot.  Claims epsilon = 1.0 (pure).
"""
from dataclasses import dataclass, field
import math

import numpy as np


def two_sided_geometric(epsilon, rng):
    p = 1.0 - math.exp(-epsilon)
    return int(rng.geometric(p)) - int(rng.geometric(p))


@dataclass
class Screening:
    n_arms: int = 4
    horizon: int = 40
    epsilon: float = 1.0
    rng: np.random.Generator = None
    pilot: int = 6
    clock: int = 0
    successes: int = 0
    accepted: list = field(default_factory=list)

    def choose(self) -> int:
        candidate = 1 + self.clock // self.pilot
        if candidate < self.n_arms:
            return candidate
        pool = self.accepted or [0]
        return pool[self.clock % len(pool)]

    def learn(self, arm: int, outcome: float) -> None:
        piloting = 1 + self.clock // self.pilot < self.n_arms
        self.clock += 1
        if not piloting:
            return
        self.successes += int(self.rng.random() < outcome)
        if self.clock % self.pilot == 0:
            noisy = self.successes + two_sided_geometric(self.epsilon, self.rng)
            if noisy > self.pilot // 2:
                self.accepted.append(arm)
            self.successes = 0
