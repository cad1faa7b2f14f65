"""Greedy bandit on continual sums made by the square-root matrix mechanism.

The matrix of prefix sums is A = C C with C the lower-triangular Toeplitz matrix of
the coefficients of (1 - x)^(-1/2).  Gaussian z is added to C x, so the prefix sums carry
C z.  (epsilon, delta) = (3.0, 1e-3), K = 2, T = 24.
"""
import numpy as np
from scipy.linalg import toeplitz
from scipy.special import log_ndtr


def _log_free_delta(mu, eps):
    """delta of a Gaussian mechanism with sensitivity / sigma = mu."""
    return np.exp(log_ndtr(mu / 2 - eps / mu)) - np.exp(eps + log_ndtr(-mu / 2 - eps / mu))


def _largest_mu(eps, delta):
    lo, hi = 1e-3, 20.0
    for _ in range(100):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if _log_free_delta(mid, eps) <= delta else (lo, mid)
    return lo * (1.0 - 1e-6)


class SqrtMatrixGreedy:
    def __init__(self, n_arms=2, horizon=24, epsilon=3.0, rng=None, delta=1e-3):
        coef = np.ones(horizon)
        for k in range(1, horizon):
            coef[k] = coef[k - 1] * (2 * k - 1) / (2 * k)
        root = toeplitz(coef, np.zeros(horizon))
        sensitivity = np.linalg.norm(coef)
        sigma = sensitivity / _largest_mu(epsilon, delta)
        z = rng.normal(0.0, sigma, size=(horizon, n_arms))
        self.noise = root @ z
        self.sums = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms)
        self.view = np.full(n_arms, np.inf)
        self.t = 0

    def select(self):
        return int(np.argmax(self.view))

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.pulls[arm] += 1
        noisy = self.sums + self.noise[self.t]
        self.view = np.where(self.pulls > 0, noisy / np.maximum(self.pulls, 1), np.inf)
        self.t += 1
