"""Thompson sampling on secret ballots: each reward leaves one randomised bit, everything else sees the bit only.

The reward x becomes a bit B with P(B=1) = x, and B is kept with probability e^eps / (1 + e^eps), flipped otherwise.  Hence
P(ballot = 1 | x) = (1 + x (e^eps - 1)) / (1 + e^eps) lies in [1, e^eps] / (1 + e^eps), and so does P(ballot = 0 | x): the ballot of
one round is eps-DP in the reward of that round, with equality for 0 against 1.  A reward is voted on once; the posteriors and
the actions are functions of the ballots and of fresh randomness, so the sequence of actions is eps-DP.
"""
import math
import random
from dataclasses import dataclass, field
from typing import Any

EPSILON = 1.2


@dataclass
class BetaBallots:
    n_arms: int
    rng: Any
    epsilon: float = EPSILON
    yes: list = field(init=False)
    no: list = field(init=False)
    dice: random.Random = field(init=False, repr=False)

    def __post_init__(self):
        self.yes = [1] * self.n_arms
        self.no = [1] * self.n_arms
        self.dice = random.Random(int(self.rng.integers(2**63)))

    @property
    def keep(self) -> float:
        return 1.0 / (1.0 + math.exp(-self.epsilon))

    def select(self) -> int:
        draws = [self.dice.betavariate(a, b) for a, b in zip(self.yes, self.no)]
        return draws.index(max(draws))

    def update(self, arm, reward):
        bit = self.dice.random() < float(reward)
        ballot = bit if self.dice.random() < self.keep else not bit
        column = self.yes if ballot else self.no
        column[arm] += 1
