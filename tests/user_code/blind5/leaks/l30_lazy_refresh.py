"""Greedy bandit whose published means are refreshed only if they are out of date."""
import numpy as np


class LazyRefresh:
    TOLERANCE = 0.12
    ROUND = 8

    def __init__(self, n_arms=2, horizon=80, epsilon=1.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        rounds = max(1, horizon // self.ROUND)
        self.scale = rounds / epsilon
        self.arms = [{"sum": 0.0, "n": 0, "basis": None, "public": 0.0} for _ in range(n_arms)]
        self.step = 0

    def _refresh(self):
        for arm in self.arms:
            mean = arm["sum"] / arm["n"]
            if arm["basis"] is not None and abs(mean - arm["basis"]) <= self.TOLERANCE:
                continue
            arm["basis"] = mean
            arm["public"] = mean + self.rng.laplace(0.0, self.scale / arm["n"])

    def select(self):
        i = self.step % self.ROUND
        if i < len(self.arms):
            return i
        return max(range(len(self.arms)), key=lambda a: self.arms[a]["public"])

    def update(self, arm, reward):
        i = self.step % self.ROUND
        self.step += 1
        if i < len(self.arms):
            self.arms[arm]["sum"] += reward
            self.arms[arm]["n"] += 1
            if i == len(self.arms) - 1:
                self._refresh()
