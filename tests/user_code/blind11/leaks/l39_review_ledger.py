"""Periodic portfolio reviews paid from a shrinking privacy ledger.

Claim: epsilon-DP (default EPSILON) for the action sequence, one reward in [0, 1] changed.
Fault: the shares are epsilon, epsilon / 2, epsilon / 4, ... where the first should be half; all reviews
score totals since day 0, so together they spend up to 2 * epsilon.
Pair: 2 arms, 40 rounds; arm 0 pays 0 always, arm 1 pays 1 always; right input: arm 0 pays 1 in round 0.
Event: arm 0 is held from round 8 to the end.  It trails by 4 (left) or 3 (right) at each of four reviews,
winning review j with probability 1 / (1 + exp(gap * 2^-j)): 0.000218 against 0.001131, loss 1.647.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1.0


@dataclass
class ReviewLedger:
    n_arms: int
    rng: np.random.Generator
    epsilon: float = EPSILON
    period: int = 8
    reviews: int = field(init=False, default=0)
    day: int = field(init=False, default=0)
    holding: int = field(init=False, default=-1)
    totals: np.ndarray = field(init=False)

    def __post_init__(self):
        self.totals = np.zeros(self.n_arms)

    def _allowance(self):
        share = self.epsilon * 0.5**self.reviews
        self.reviews += 1
        return share

    def select(self):
        return self.day % self.n_arms if self.holding < 0 else self.holding

    def update(self, arm, reward):
        self.totals[arm] += reward
        self.day += 1
        if self.day % self.period == 0:
            scores = self._allowance() * self.totals + self.rng.gumbel(size=self.n_arms)
            self.holding = int(np.argmax(scores))
