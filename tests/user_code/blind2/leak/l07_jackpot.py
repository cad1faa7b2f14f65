import numpy as np


class JackpotGreedy:
    """Randomised response on every reward; a jackpot is a public event and may be followed."""

    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.rng = rng
        self.p = np.exp(epsilon) / (1 + np.exp(epsilon))
        self.good = np.ones(n_arms)
        self.n = 2 * np.ones(n_arms)
        self.repeat = 0
        self.last = 0
        self.t = 0

    def select(self):
        self.t += 1
        if self.repeat > 0:
            self.repeat -= 1
            return self.last
        if self.t % 2 == 1:
            return (self.last + 1) % len(self.n)
        return int(np.argmax(self.good / self.n))

    def update(self, arm, reward):
        self.last = arm
        if reward >= 1.0:
            self.repeat = 2
        bit = reward > 0.5
        if self.rng.random() >= self.p:
            bit = not bit
        self.good[arm] += bit
        self.n[arm] += 1
