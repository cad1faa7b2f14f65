"""UCB with per-arm doubling phases, noise from the standard library."""
import math
import random

import numpy as np


class PhaseUCB:
    def __init__(self, n_arms=3, horizon=70, epsilon=1.0, rng=None):
        rng = rng or np.random.default_rng()
        self._random = random.Random(int(rng.integers(2**62)))
        self.epsilon = epsilon
        self.arms = {a: {"mean": None, "size": 1, "left": 0, "acc": 0.0} for a in range(n_arms)}
        self.clock = 0
        self.playing = None

    def _laplace(self):
        return self._random.expovariate(self.epsilon) - self._random.expovariate(self.epsilon)

    def _bound(self, a):
        info = self.arms[a]
        if info["mean"] is None:
            return math.inf
        n = info["size"]
        return info["mean"] + math.sqrt(math.log(self.clock + 1) / (2 * n)) + 1 / (self.epsilon * n)

    def select(self):
        if self.playing is None:
            self.playing = max(self.arms, key=self._bound)
            info = self.arms[self.playing]
            info["size"] *= 2
            info["left"], info["acc"] = info["size"], 0.0
        return self.playing

    def update(self, arm, reward):
        self.clock += 1
        info = self.arms[arm]
        info["acc"] += reward
        info["left"] -= 1
        if info["left"] == 0:
            info["mean"] = (info["acc"] + self._laplace()) / info["size"]
            self.playing = None
