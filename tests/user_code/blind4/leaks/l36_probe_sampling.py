"""Plays a default arm, probes alternatives in a random quarter of rounds, then picks one."""
import numpy as np


class ProbeSampler:
    def __init__(self, n_arms, horizon, rng, epsilon=1.0, rate=0.25):
        self.k, self.rng, self.rate = n_arms, rng, rate
        self.switch = (3 * horizon) // 4
        self.sampled_eps = np.log1p(np.expm1(epsilon) / rate)    # amplified by sampling
        self.sums = np.zeros(n_arms)
        self.t, self.final = 0, None

    def select(self):
        if self.t < self.switch:
            if self.rng.random() < self.rate:
                return 1 + int(self.rng.integers(self.k - 1))
            return 0
        if self.final is None:
            noisy = self.sums[1:] + self.rng.laplace(0, 1 / self.sampled_eps, self.k - 1)
            self.final = 1 + int(np.argmax(noisy))
        return self.final

    def update(self, arm, reward):
        if self.t < self.switch and arm != 0:
            self.sums[arm] += reward
        self.t += 1
