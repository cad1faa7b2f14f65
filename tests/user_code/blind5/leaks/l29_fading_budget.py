"""Stay-or-switch bandit on running surpluses; the budget halves from look to look."""
import numpy as np


class FadingBudget:
    LENGTH = 6
    PAR = 0.5

    def __init__(self, n_arms=2, horizon=120, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.epsilon = epsilon
        self.surplus = np.zeros(n_arms)
        self.looks = np.zeros(n_arms, dtype=int)
        self.t = 0
        self.arm = 0

    def _laplace(self, scale):
        u = self.rng.uniform(-0.5, 0.5)
        return -scale * np.sign(u) * np.log1p(-2 * abs(u))

    def _look(self, arm):
        """The budgets of all looks at an arm form a geometric series."""
        budget = self.epsilon / 2.0 ** self.looks[arm]
        self.looks[arm] += 1
        return self.surplus[arm] + self._laplace(1.0 / budget)

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.surplus[arm] += reward - self.PAR
        self.t += 1
        if self.t % self.LENGTH == 0 and self._look(arm) < 0:
            self.arm = (arm + 1) % self.surplus.size
