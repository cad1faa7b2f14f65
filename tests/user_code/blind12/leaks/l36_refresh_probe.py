"""Exponential mechanism per block with occasional refresh probes, epsilon = 1.5 (pure).

A block tries every arm twice, draws the block's arm with weights exp(eps * sum) of the
block, and serves it.  In the second half of the horizon a serving round becomes a probe
with probability 0.08: it plays a random arm among those still worth a visit, to keep
the long-run statistics fresh.
"""
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class RefreshingExponential:
    n_arms: int = 4
    horizon: int = 56
    epsilon: float = 1.5
    rng: Any = None
    tries: int = 2
    serve: int = 6
    probe_rate: float = 0.08
    t: int = 0
    favourite: int = 0
    block: Any = None
    long_sum: Any = None
    long_n: Any = None
    plan: list = field(default_factory=list)

    def __post_init__(self):
        self.long_sum = np.zeros(self.n_arms)
        self.long_n = np.zeros(self.n_arms)
        self._new_block()

    def _new_block(self):
        self.block = np.zeros(self.n_arms)
        self.plan = list(range(self.n_arms)) * self.tries + [None] * self.serve

    def _draw(self):
        w = np.exp(self.epsilon * (self.block - self.block.max()))
        return int(self.rng.choice(self.n_arms, p=w / w.sum()))

    def _worth_a_visit(self):
        means = self.long_sum / np.maximum(self.long_n, 1)
        return np.flatnonzero(means >= means.max() - 0.15)

    def act(self):
        if self.plan[0] is not None:
            return self.plan[0]
        if len(self.plan) == self.serve:
            self.favourite = self._draw()
        if self.t >= self.horizon // 2 and self.rng.random() < self.probe_rate:
            return int(self.rng.choice(self._worth_a_visit()))
        return self.favourite

    def observe(self, arm, reward):
        r = min(1.0, max(0.0, float(reward)))
        if self.plan.pop(0) is not None:
            self.block[arm] += r
        self.long_sum[arm] += r
        self.long_n[arm] += 1
        self.t += 1
        if not self.plan:
            self._new_block()
