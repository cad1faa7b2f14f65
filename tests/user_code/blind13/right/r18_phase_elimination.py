"""Carrier selection by successive elimination in phases (logistics).

PrivateElimination(n_arms, horizon, epsilon, rng), default epsilon = 1.0.  In each phase every carrier
still in the race gets the same number of shipments; the phase totals get Laplace(1/epsilon) noise and
carriers clearly behind are dropped.  Totals are thrown away at the end of a phase, so a reward enters
one noisy total.  A finance journal keeps true totals for invoicing; no decision reads it.
"""
import abc
import math

import numpy as np


class PhasedPolicy(abc.ABC):
    def __init__(self, n_arms, horizon, rng):
        self.alive = list(range(n_arms))
        self.horizon, self.rng = horizon, rng
        self.phase = 0
        self.finance_journal = np.zeros(n_arms)
        self._begin()

    def _begin(self):
        self.phase += 1
        self.per_arm = self.shipments(self.phase)
        self.plan = [a for _ in range(self.per_arm) for a in self.alive]
        self.plan.reverse()
        self.totals = dict.fromkeys(self.alive, 0.0)

    def select(self):
        return self.plan[-1] if len(self.alive) > 1 else self.alive[0]

    def update(self, arm, reward):
        reward = float(np.clip(reward, 0.0, 1.0))
        self.finance_journal[arm] += reward
        if len(self.alive) == 1:
            return
        self.plan.pop()
        self.totals[arm] += reward
        if not self.plan:
            self.alive = self.survivors()
            self._begin()

    @abc.abstractmethod
    def shipments(self, phase): ...

    @abc.abstractmethod
    def survivors(self): ...


class PrivateElimination(PhasedPolicy):
    def __init__(self, n_arms=4, horizon=60, epsilon=1.0, rng=None):
        self.epsilon = epsilon
        super().__init__(n_arms, horizon, rng if rng is not None else np.random.default_rng())

    def shipments(self, phase):
        return 2 + phase

    def survivors(self):
        noisy = {a: s + self.rng.laplace(0.0, 1.0 / self.epsilon) for a, s in self.totals.items()}
        best = max(noisy.values())
        slack = 1.0 / self.epsilon + math.sqrt(self.per_arm) / 2
        return [a for a in self.alive if noisy[a] >= best - slack]
