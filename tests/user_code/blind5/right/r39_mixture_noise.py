"""Epoch-greedy bandit whose totals are blurred by normals of exponential random variance."""
import numpy as np


class MixtureNoise:
    def __init__(self, n_arms=2, horizon=60, epsilon=4.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.b = 1.0 / epsilon
        self.n_arms = n_arms
        self.estimate = np.full(n_arms, 0.5)
        self.plan = self._make_plan()
        self.log = []

    def _make_plan(self):
        explore = np.tile(np.arange(self.n_arms), 2)
        exploit = np.full(6, int(np.argmax(self.estimate)))
        return [int(a) for a in np.concatenate([explore, exploit])]

    def _blur(self, shape):
        variance = 2.0 * self.rng.standard_exponential(shape)
        return self.b * np.sqrt(variance) * self.rng.standard_normal(shape)

    def select(self):
        return self.plan[len(self.log)]

    def update(self, arm, reward):
        self.log.append((arm, reward))
        if len(self.log) < len(self.plan):
            return
        arms = np.array([a for a, _ in self.log])
        values = np.array([r for _, r in self.log])
        totals = np.bincount(arms, values, self.n_arms) + self._blur(self.n_arms)
        pulls = np.bincount(arms, minlength=self.n_arms)
        fresh = totals / np.maximum(pulls, 1)
        self.estimate = 0.6 * self.estimate + 0.4 * fresh
        self.log = []
        self.plan = self._make_plan()
