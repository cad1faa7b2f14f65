"""Sequential rejects: one push notification leaves the race after each stage.

Privacy (unit: one reward in [0, 1]): stage sums S_i are fresh, so a reward belongs to one stage and one arm.  The arm to
go is drawn with probability w_i / sum_j w_j, w_i = exp(-EPSILON S_i), by an exponential race (the smallest E_i / w_i).
One reward changes a single w_i, by a factor c within e^-EPSILON .. e^EPSILON.  Take c >= 1: P(i) grows by a factor
c / (1 + P(i)(c-1)) in [1, c], every other P(j) shrinks by 1 + P(i)(c-1) in [1, c].  No halving of EPSILON is needed.
Past and future stages do not use the reward, and the final rounds use none.
"""
import math
import random

import numpy as np

EPSILON = 0.9
PER_ARM = 3


class PrivateRejects:
    def __init__(self, n_arms, rng):
        self.race = list(range(n_arms))
        self.random = random.Random(int(rng.integers(2**63)))
        self.sums = np.zeros(n_arms)
        self.plan = self._schedule()

    def _schedule(self):
        while len(self.race) > 1:
            self.sums[:] = 0.0
            for _ in range(PER_ARM):
                yield from tuple(self.race)
            self.race.remove(self._loser())
        while True:
            yield self.race[0]

    def _loser(self):
        # log(E_i / w_i) = log E_i + EPSILON * S_i
        keys = {i: math.log(self.random.expovariate(1.0)) + EPSILON * self.sums[i] for i in self.race}
        return min(keys, key=keys.get)

    def select(self):
        return next(self.plan)

    def update(self, arm, reward):
        self.sums[arm] += reward
