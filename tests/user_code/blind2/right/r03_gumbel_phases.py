"""Phases of 9 rounds: each arm once or more by turns in the first six, then the chosen one.

Every phase draws its favourite by the Gumbel-max trick from the sums of THIS phase's exploration only, then
forgets them.  Gumbel(0, 1/eps) noise and argmax is the exponential mechanism with weights exp(eps * sum); one
sum moves by at most 1 so one phase is eps-DP, and a reward enters one phase only: parallel composition.
Rewards earned while exploiting are never used.
"""
import math

import numpy as np


class GumbelPhases:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.K = n_arms
        self.eps = epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.t = 0
        self.favourite = 0
        self.sums = [0.0] * n_arms

    def _gumbel(self):
        u = self.rng.random()
        while u <= 0.0:
            u = self.rng.random()
        return -math.log(-math.log(u))

    def select(self):
        pos = self.t % 9
        if pos < 6:
            return pos % self.K
        if pos == 6:
            keys = [s + self._gumbel() / self.eps for s in self.sums]
            self.favourite = keys.index(max(keys))
        return self.favourite

    def update(self, arm, reward):
        pos = self.t % 9
        if pos < 6:
            self.sums[arm] += reward
        self.t += 1
        if self.t % 9 == 0:
            self.sums = [0.0] * self.K
