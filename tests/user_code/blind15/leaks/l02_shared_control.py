"""A/B/n test with a control arm.

All arms get six pulls in a shuffled order.  Each treatment is then compared with
the control: the difference of the two sums gets Laplace(1/epsilon) noise and the
treatment is kept if the noisy difference is positive.  Different comparisons are
about different treatments, so parallel composition applies.  The remaining rounds
rotate over the control and the kept treatments.  Claims epsilon = 0.8 (pure).
"""
import itertools

import numpy as np


class ABnTest:
    CONTROL = 0
    PULLS = 6

    def __init__(self, n_arms=4, horizon=48, epsilon=0.8, rng=None):
        self.epsilon, self.rng = epsilon, rng
        self.arms = range(n_arms)
        plan = np.repeat(np.arange(n_arms), self.PULLS)
        self.plan = iter(rng.permutation(plan).tolist())
        self.left = len(plan)
        self.sums = dict.fromkeys(self.arms, 0.0)

    def next_arm(self):
        return next(self.plan)

    def record(self, arm, reward):
        if self.left == 0:
            return
        self.sums[arm] += reward
        self.left -= 1
        if self.left == 0:
            self.plan = itertools.cycle(self._winners())

    def _winners(self):
        base = self.sums[self.CONTROL]
        kept = [a for a in self.arms if a != self.CONTROL
                and self.sums[a] - base + self.rng.laplace(0, 1 / self.epsilon) > 0]
        return [self.CONTROL] + kept
