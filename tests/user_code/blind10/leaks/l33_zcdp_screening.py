"""Screening: play an arm in batches and keep it while the noisy batch sum reaches TARGET * BATCH, else go on to the next.

Fault: (EPSILON, DELTA) is turned into rho = EPSILON^2 / 2 of zero-concentrated privacy, which is the direction pure ->
zCDP; the way back costs rho + 2 sqrt(rho ln(1/DELTA)).  So SIGMA = 1 / sqrt(2 rho) = 1 / EPSILON, too small.  Pair
(batch of 6, bar 4.2): the sums of the first batch are 0.56 and 1.56.  Event: arm 0 is kept in round 7, chances
P(N > 3.64) = 0.000136 and P(N > 2.64) = 0.00415; ln((0.00415 - DELTA) / 0.000136) = 3.14 = 3.1 EPSILON at DELTA = 0.001.
"""
import math
from dataclasses import dataclass, field
from typing import Any

EPSILON = 1.0
DELTA = 1e-3
BATCH = 6
TARGET = 0.7
RHO = EPSILON ** 2 / 2
SIGMA = 1 / math.sqrt(2 * RHO)


@dataclass
class Screening:
    n_arms: int
    rng: Any
    arm: int = field(default=0, init=False)
    batch: list[float] = field(default_factory=list, init=False)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        match self.batch:
            case [*earlier] if len(earlier) == BATCH - 1:
                noisy = math.fsum(earlier) + reward + self.rng.normal(0.0, SIGMA)
                if noisy < TARGET * BATCH:
                    self.arm = (arm + 1) % self.n_arms
                self.batch = []
            case _:
                self.batch.append(float(reward))
