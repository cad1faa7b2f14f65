"""Gaussian Thompson sampling with lazily refreshed samples.

The sample of an arm is drawn from N(batch mean, (sigma / b)^2) when its batch of b own
rewards is full, and stands until the next batch of that arm is full; the batch is then
forgotten.  The posterior draw is thus one Gaussian mechanism per batch (sum of
sensitivity 1, analytic calibration), and everything else is post-processing.
Claim: (epsilon, delta)-DP, default epsilon = 1.5 and delta = 1e-4.
"""
import numpy as np
from scipy.special import ndtr


def calibrate(epsilon, delta):
    def excess(s):
        return ndtr(0.5 / s - epsilon * s) - np.exp(epsilon) * ndtr(-0.5 / s - epsilon * s)

    lo, hi = 1e-3, 1e3
    for _ in range(200):
        mid = 0.5 * (lo + hi)
        if excess(mid) > delta:
            lo = mid
        else:
            hi = mid
    return hi


class LazyThompson:
    batch = 4
    _sigmas = {}

    def __init__(self, n_arms=3, horizon=45, epsilon=1.5, rng=None, delta=1e-4):
        self.rng = rng if rng is not None else np.random.default_rng()
        key = (epsilon, delta)
        if key not in self._sigmas:
            self._sigmas[key] = calibrate(*key)
        self.sigma = self._sigmas[key]
        self.theta = self.rng.normal(0.5, 0.5, size=n_arms)
        self.sums = np.zeros(n_arms)
        self.filled = np.zeros(n_arms, dtype=int)

    def choose(self):
        return int(np.argmax(self.theta))

    def learn(self, arm, reward):
        self.sums[arm] += reward
        self.filled[arm] += 1
        if self.filled[arm] == self.batch:
            noise = self.sigma * self.rng.standard_normal()
            self.theta[arm] = (self.sums[arm] + noise) / self.batch
            self.sums[arm] = 0.0
            self.filled[arm] = 0
