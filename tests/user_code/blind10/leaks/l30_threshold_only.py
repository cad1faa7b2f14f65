"""Sparse-vector patience: stay with an arm until its cumulated regret passes a noisy bar, then rotate.

Fault: only the bar is noisy; the queries are compared without noise of their own (the broken variant of sparse vector
in Lyu, Su and Li 2017).  Pair: the reward of round 2 is 1 or 0, the others are anything, e.g. 0.5.  Event: the first
switch comes right after round 2.  It needs regret_1 < bar <= regret_2; with reward 1 the regrets are equal and the
probability is 0, with reward 0 it is P(0.5 < bar <= 1.5) = (e^{-1} - e^{-2}) / 2 = 0.116 at EPSILON = 1.  Loss: infinite.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1.0


@dataclass
class NoisyBarRotation:
    n_arms: int
    rng: np.random.Generator
    patience: float = 2.5
    state: dict = field(default_factory=dict, init=False)

    def __post_init__(self):
        self._enter(0)

    def _enter(self, arm):
        self.state = {
            "arm": arm % self.n_arms,
            "regret": 0.0,
            "bar": self.patience + self.rng.laplace(0.0, 1.0 / EPSILON),
        }

    def select(self):
        return self.state["arm"]

    def update(self, arm, reward):
        match self.state:
            case {"regret": regret, "bar": bar} if regret + (1.0 - reward) >= bar:
                self._enter(arm + 1)
            case _:
                self.state["regret"] += 1.0 - reward
