"""Bid-floor tuner for an ad exchange: explore, publish one noisy scoreboard, commit.

During the burn-in every floor (arm) gets the same number of auctions.  At the end
of the burn-in one Laplace read is taken of each arm's revenue total, the board is
frozen and the best floor serves until the horizon.  Claim: epsilon-DP (pure) for one
reward in [0, 1], epsilon as passed in (1.0 by default).
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class TunerConfig:
    n_arms: int
    horizon: int
    epsilon: float
    burn_in_share: float = 0.5

    @property
    def pulls_per_arm(self) -> int:
        return max(1, int(self.burn_in_share * self.horizon) // self.n_arms)


@dataclass
class RevenueLedger:
    n_arms: int
    totals: np.ndarray = field(init=False)
    entries: int = 0

    def __post_init__(self):
        self.totals = np.zeros(self.n_arms)

    def post(self, arm, amount):
        self.totals[arm] += min(max(float(amount), 0.0), 1.0)
        self.entries += 1


class BidFloorTuner:
    def __init__(self, n_arms=3, horizon=40, epsilon=1.0, rng=None):
        self.cfg = TunerConfig(n_arms, horizon, epsilon)
        self.rng = rng if rng is not None else np.random.default_rng()
        self.ledger = RevenueLedger(n_arms)
        self.clock = 0
        self.frozen_choice = None

    def _in_burn_in(self):
        return self.clock < self.cfg.pulls_per_arm * self.cfg.n_arms

    def _freeze(self):
        # every reward sits in exactly one total: sensitivity 1 in one coordinate
        board = self.ledger.totals + self.rng.laplace(0.0, 1.0 / self.cfg.epsilon, self.cfg.n_arms)
        self.frozen_choice = int(np.argmax(board))
        self.ledger = None                      # raw totals are not needed any more

    def select(self):
        if self._in_burn_in():
            return self.clock % self.cfg.n_arms
        if self.frozen_choice is None:
            self._freeze()
        return self.frozen_choice

    def update(self, arm, reward):
        if self._in_burn_in():
            self.ledger.post(arm, reward)
        self.clock += 1
