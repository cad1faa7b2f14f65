"""Epsilon-greedy on per-arm prefix sums from a Gaussian binary-counter (zCDP calibrated)."""
import numpy as np

DELTA = 1e-5


class GaussTreeGreedy:
    def __init__(self, n_arms, horizon, rng, epsilon=1.0):
        L = int(horizon).bit_length()
        ld = np.log(1 / DELTA)
        rho = (np.sqrt(ld + epsilon) - np.sqrt(ld)) ** 2
        self.sigma = np.sqrt(L / (2 * rho))
        self.rng, self.K = rng, n_arms
        self.alpha = np.zeros((n_arms, L))
        self.alpha_hat = np.zeros((n_arms, L))
        self.n = np.zeros(n_arms, dtype=int)

    def select(self):
        if (self.n == 0).any():
            return int(np.flatnonzero(self.n == 0)[0])
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.K))
        return int(np.argmax(self.alpha_hat.sum(axis=1) / self.n))

    def update(self, arm, reward):
        self.n[arm] += 1
        i = (int(self.n[arm]) & -int(self.n[arm])).bit_length() - 1
        self.alpha[arm, i] = self.alpha[arm, :i].sum() + reward
        self.alpha[arm, :i] = 0
        self.alpha_hat[arm, :i] = 0
        self.alpha_hat[arm, i] = self.alpha[arm, i] + self.rng.normal(0, self.sigma)
