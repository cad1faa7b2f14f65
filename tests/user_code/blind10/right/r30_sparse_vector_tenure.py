"""Sparse-vector patience: stay with an arm until its noisy cumulated regret passes a noisy threshold, then move on.

A tenure is one run of AboveThreshold with queries q_t = sum of (1 - reward) since it began, so one changed reward
moves all the later queries of one tenure by the same d, |d| <= 1, and none before.  Let q' = q + d with d >= 0.
(1) P(q) <= e^EPS_T P(q'): shift the bar's noise by d; the earlier silent answers do not become rarer, those after the
change and the firing answer are exactly as likely, and the density of the bar pays at most e^EPS_T.
(2) P(q') <= e^EPS_Q P(q): without a shift the silent answers get likelier and the firing one pays at most e^EPS_Q.
So the cost is max(EPS_T, EPS_Q), not their sum (monotone case of Lyu, Su and Li 2017, with a common shift).  A new
tenure begins with a fresh bar and an empty sum, so each reward is paid for once.  Tight: silence under a high regret.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1.0
EPS_T = EPSILON
EPS_Q = EPSILON


@dataclass
class PatientRotation:
    n_arms: int
    rng: np.random.Generator
    patience: float = 2.5
    arm: int = 0
    regret: float = field(default=0.0, init=False)
    bar: float = field(default=0.0, init=False)

    def __post_init__(self):
        self._open_tenure(int(self.rng.integers(self.n_arms)))

    def _open_tenure(self, arm):
        self.arm = arm
        self.regret = 0.0
        self.bar = self.patience + self.rng.laplace(scale=1 / EPS_T)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.regret += 1.0 - reward
        answer = self.regret + self.rng.laplace(scale=1 / EPS_Q)
        if answer >= self.bar:
            self._open_tenure((arm + 1) % self.n_arms)
