"""Pursuit learner fed with three-level randomised responses.

Privacy: a reward is first rounded at random to one of the levels 0, 1/2, 1 (any channel before the mechanism is
harmless) and the level is then sent through 3-ary randomised response: the true level with probability
e^EPSILON / (e^EPSILON + 2), each of the other two with 1 / (e^EPSILON + 2).  The ratio of any two report probabilities
is at most e^EPSILON.  Each reward is reported once; everything later uses the report and fresh randomness only.
"""
from dataclasses import dataclass, field
from math import exp

import numpy as np

EPSILON = 1.5


@dataclass
class TernaryPursuit:
    n_arms: int
    rng: np.random.Generator
    step: float = 0.25
    probs: np.ndarray = field(init=False)
    total: np.ndarray = field(init=False)
    pulls: np.ndarray = field(init=False)

    def __post_init__(self):
        self.probs = np.full(self.n_arms, 1.0 / self.n_arms)
        self.total = np.zeros(self.n_arms)
        self.pulls = np.zeros(self.n_arms, dtype=int)

    def _report(self, reward):
        low, rest = divmod(2.0 * reward, 1.0)
        level = int(low) + int(self.rng.random() < rest)
        others = [v for v in (0, 1, 2) if v != level]
        truthful = self.rng.random() < exp(EPSILON) / (exp(EPSILON) + 2.0)
        return level if truthful else others[int(self.rng.integers(2))]

    def select(self):
        return int(self.rng.choice(self.n_arms, p=self.probs))

    def update(self, arm, reward):
        self.total[arm] += self._report(reward)
        self.pulls[arm] += 1
        means = self.total / np.maximum(self.pulls, 1)
        target = np.zeros(self.n_arms)
        target[int(np.argmax(means))] = 1.0
        self.probs = (1.0 - self.step) * self.probs + self.step * target
        self.probs /= self.probs.sum()
