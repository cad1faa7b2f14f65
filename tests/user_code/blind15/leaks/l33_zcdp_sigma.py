"""Batched leader with Gaussian noise; K = 2, horizon 40, claim (epsilon, delta) = (1.0, 1e-3).

The budget is kept in zCDP.  A release of sensitivity 1 with deviation sigma costs
rho = 1 / (2 sigma^2); we set rho from epsilon and spend it once on every batch, the batches
being disjoint.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class ZCDPBudget:
    epsilon: float
    delta: float

    @property
    def rho(self) -> float:
        return self.epsilon ** 2 / 2.0

    def sigma(self, sensitivity: float = 1.0) -> float:
        return sensitivity / np.sqrt(2.0 * self.rho)


@dataclass
class Batch:
    sums: np.ndarray
    counts: np.ndarray

    @classmethod
    def empty(cls, k):
        return cls(np.zeros(k), np.zeros(k, dtype=int))


@dataclass
class GaussianLeader:
    n_arms: int = 2
    horizon: int = 40
    epsilon: float = 1.0
    rng: np.random.Generator | None = None
    delta: float = 1e-3
    trial: int = 5
    reign: int = 10
    t: int = 0
    leader: int = 0
    batch: Batch = field(init=False)

    def __post_init__(self):
        self.sigma = ZCDPBudget(self.epsilon, self.delta).sigma()
        self.batch = Batch.empty(self.n_arms)

    @property
    def _pos(self):
        return self.t % (self.n_arms * self.trial + self.reign)

    def select(self):
        return self._pos // self.trial if self._pos < self.n_arms * self.trial else self.leader

    def update(self, arm, reward):
        if self._pos < self.n_arms * self.trial:
            self.batch.sums[arm] += reward
            self.batch.counts[arm] += 1
        self.t += 1
        if self._pos == self.n_arms * self.trial:
            noisy = self.batch.sums + self.rng.normal(0.0, self.sigma, self.n_arms)
            self.leader = int(np.argmax(noisy / self.batch.counts))
            self.batch = Batch.empty(self.n_arms)
