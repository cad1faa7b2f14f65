"""UCB on locally privatised bits (randomised response). Claims epsilon = 1.5, pure.

The learner core never meets a reward: a Randomiser turns each into one bit first.
"""
import math

import numpy as np


class Randomiser:
    """reward -> Bernoulli(reward) -> randomised response with odds e^epsilon."""

    def __init__(self, epsilon, rng):
        self.keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        self.rng = rng

    def __call__(self, reward):
        bit = self.rng.random() < reward
        lie = self.rng.random() >= self.keep
        return int(bit != lie)

    def debias(self, mean):
        return (mean - (1.0 - self.keep)) / (2.0 * self.keep - 1.0)


class UCBCore:
    def __init__(self, n_arms, width):
        self.ones = [0] * n_arms
        self.pulls = [0] * n_arms
        self.width = width

    def index(self, arm, t):
        raise NotImplementedError

    def select(self):
        t = sum(self.pulls)
        if 0 in self.pulls:
            return self.pulls.index(0)
        values = [self.index(a, t) for a in range(len(self.pulls))]
        return values.index(max(values))


class LocalUCB(UCBCore):
    def __init__(self, n_arms=3, horizon=40, epsilon=1.5, rng=None):
        self.local = Randomiser(epsilon, rng if rng is not None else np.random.default_rng())
        super().__init__(n_arms, width=0.5 / (2.0 * self.local.keep - 1.0))

    def index(self, arm, t):
        mean = self.local.debias(self.ones[arm] / self.pulls[arm])
        return mean + self.width * math.sqrt(math.log(t + 1) / self.pulls[arm])

    def update(self, arm, reward):
        self.ones[arm] += self.local(reward)
        self.pulls[arm] += 1
