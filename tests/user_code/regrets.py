"""Bandits whose regret theorems are known, broken variants of them, and bounds that lack a part."""

import numpy as np


class Episodes:
    """AdaP-UCB (Azize & Basu 2022): play an arm until its pulls doubled, then forget what came before."""

    doubles = True

    def __init__(self, n_arms, rng, epsilon=1.0, alpha=3.1):
        self.rng, self.epsilon, self.alpha = rng, epsilon, alpha
        self.pulls, self.last = np.zeros(n_arms, int), np.ones(n_arms)
        self.means = np.full(n_arms, np.inf)
        self.t, self.arm, self.left, self.sum = 0, -1, 0, 0.0

    def select(self):
        if self.left == 0:
            n, log = self.last, np.log(max(self.t, 1))
            width = np.sqrt(self.alpha * np.log(2 * max(self.t, 1)) / (2 * n))
            self.arm = int(np.argmax(self.means + width + self.alpha * log / (self.epsilon * n)))
            self.left = max(1, self.pulls[self.arm]) if self.doubles else 1
            self.last[self.arm], self.sum = self.left, 0.0
        return self.arm

    def update(self, arm, reward):
        self.sum += reward
        self.pulls[arm] += 1
        self.t, self.left = self.t + 1, self.left - 1
        if self.left == 0:
            n = self.last[arm]
            self.means[arm] = self.sum / n + self.rng.laplace(0, 1 / (self.epsilon * n))


class NeverDoubles(Episodes):
    """Every episode is one round: a mean is one reward and its noise."""

    doubles = False


class Stays:
    """Its first episode never ends."""

    def __init__(self, n_arms, epsilon=1.0, alpha=3.1):
        pass

    def select(self):
        return 0

    def update(self, arm, reward):
        pass


def theorem(gaps, horizon, epsilon, alpha):
    """Azize & Basu (2022), Theorem 7."""
    return sum(
        16 * alpha * np.log(horizon) / min(gap, epsilon) + alpha / (alpha - 3) for gap in gaps[gaps > 0]
    )


def without_epsilon(gaps, horizon, epsilon, alpha):
    """The same without its 1/epsilon."""
    return sum(16 * alpha * np.log(horizon) / gap + alpha / (alpha - 3) for gap in gaps[gaps > 0])
