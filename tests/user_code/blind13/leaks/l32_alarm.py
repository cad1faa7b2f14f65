"""Alarm bandit: sparse vector decides when to leave an arm.

Claim: epsilon = 1.5 (pure).  Each arm keeps an account of its deficit, the sum of 0.5 - reward.  An above-threshold
test (threshold noise 2 / eps, query noise 4 / eps, both Laplace, sensitivity 1) watches the account of the arm in
play and raises an alarm when the arm should be left; each alarm starts a new test with a new threshold.
"""
import numpy as np


class AboveThreshold:
    def __init__(self, threshold, epsilon, rng):
        self.rng = rng
        self.query_scale = 4.0 / epsilon
        self.level = threshold + rng.laplace(0.0, 2.0 / epsilon)

    def __call__(self, query):
        return query + self.rng.laplace(0.0, self.query_scale) >= self.level


class AlarmBandit:
    threshold = 1.0

    def __init__(self, n_arms=2, horizon=60, epsilon=1.5, rng=None):
        self.n_arms, self.epsilon = n_arms, epsilon
        self.rng = np.random.default_rng() if rng is None else rng
        self.deficit = np.zeros(n_arms)
        self.arm = 0
        self._arm_test()

    def _arm_test(self):
        self.test = AboveThreshold(self.threshold, self.epsilon, self.rng)

    def act(self):
        return self.arm

    def observe(self, arm, reward):
        self.deficit[arm] += 0.5 - reward
        if self.test(self.deficit[arm]):
            self.arm = (arm + 1) % self.n_arms
            self._arm_test()
