"""Beta-Bernoulli Thompson sampling whose posterior sees randomised bits only.

Claim: EPSILON, pure. Proof: reward r -> Bernoulli(r) -> with probability h=(e^eps-1)/(e^eps+1) the bit itself, otherwise a
fair coin. P(1|r=1)=(1+h)/2=e^eps/(e^eps+1), P(1|r=0)=1/(e^eps+1): ratio e^eps, also for the complement. Rewards are used
once each; the posterior and the actions are post-processing with independent randomness.
"""
import math
import random
from dataclasses import dataclass, field

EPSILON = 0.8


@dataclass
class ReportThompson:
    n_arms: int
    rng: object
    counts: list = field(init=False)

    def __post_init__(self):
        self.coin = random.Random(int(self.rng.integers(2**63)))
        self.honest = (math.exp(EPSILON) - 1) / (math.exp(EPSILON) + 1)
        self.counts = [[1, 1] for _ in range(self.n_arms)]

    def select(self):
        draws = [self.coin.betavariate(w, l) for w, l in self.counts]
        return draws.index(max(draws))

    def update(self, arm, reward):
        bit = self.coin.random() < reward
        if self.coin.random() >= self.honest:
            bit = self.coin.random() < 0.5
        self.counts[arm][0 if bit else 1] += 1
