"""Explore-then-commit on randomised bits, with a short cut for rewards that already are bits.

Fault: a reward equal to 0 or 1 skips the rounding and, with it, the randomised response.
Pair (two arms, all rewards 0 but one of arm 1 = 1, against all 0). Event: commit to arm 1.
The first gives it with probability 1 (1 > 0), the second never (ties go to arm 0): infinite loss.
"""
import math
from dataclasses import dataclass, field

EPSILON = 1.5


@dataclass
class BitCommit:
    n_arms: int
    rng: object
    each: int = 6
    rounds: int = 0
    ones: list = field(default_factory=list)

    def __post_init__(self):
        self.ones = [0] * self.n_arms

    def select(self):
        if self.rounds < self.each * self.n_arms:
            return self.rounds % self.n_arms
        return self.ones.index(max(self.ones))

    def _encode(self, reward):
        if reward in (0.0, 1.0):
            return int(reward)
        bit = int(self.rng.random() < reward)
        flip = self.rng.random() < 1 / (1 + math.exp(EPSILON))
        return 1 - bit if flip else bit

    def update(self, arm, reward):
        if self.rounds < self.each * self.n_arms:
            self.ones[arm] += self._encode(reward)
        self.rounds += 1
