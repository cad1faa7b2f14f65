"""Stay-or-switch bandit under a privacy odometer that stops the looks when eps is used up."""
import functools

import numpy as np


def metered(fn):
    @functools.wraps(fn)
    def inner(self, arm):
        if self.spent + self.price > self.epsilon + 1e-9:
            return None
        self.spent += self.price
        return fn(self, arm)

    return inner


class Odometer:
    def __init__(self, n_arms=3, horizon=90, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.epsilon, self.price = epsilon, epsilon / 2
        self.spent = 0.0
        self.totals = [0.0] * n_arms
        self.counts = [0] * n_arms
        self.arm, self.age = 0, 0

    @metered
    def _surplus(self, arm):
        gap = self.totals[arm] - 0.5 * self.counts[arm]
        return gap + self.rng.laplace(0.0, 1.0 / self.price)

    def _move(self, arm):
        self.arm, self.age = (arm + 1) % len(self.totals), 0
        self.spent = 0.0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.totals[arm] += reward
        self.counts[arm] += 1
        self.age += 1
        if self.age in (3, 6):
            surplus = self._surplus(arm)
            if surplus is None or surplus < 0:
                self._move(arm)
        elif self.age == 9:
            self._move(arm)
