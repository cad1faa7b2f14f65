"""Thompson sampling whose Beta posteriors see noisy batch sums.

Every arm has a buffer of its last rewards.  When it holds 5, sum + Laplace(1/eps) is clipped to [0, 5] and added to the
posterior (successes, failures), and the buffer is emptied.  Clipping and sampling are post-processing.  The number in
the buffer depends on the actions only.
"""
import numpy as np


class PrivateThompson:
    def __init__(self, n_arms, horizon, epsilon=2.0, rng=None, batch=5):
        self.rng, self.eps, self.batch = rng, epsilon, batch
        self.alpha = [1.0] * n_arms
        self.beta = [1.0] * n_arms
        self.buffer = [[] for _ in range(n_arms)]

    def select(self):
        draws = [self.rng.beta(a, b) for a, b in zip(self.alpha, self.beta)]
        return int(np.argmax(draws))

    def update(self, arm, reward):
        buf = self.buffer[arm]
        buf.append(reward)
        if len(buf) < self.batch:
            return
        noisy = float(np.clip(sum(buf) + self.rng.laplace(scale=1 / self.eps), 0, self.batch))
        self.alpha[arm] += noisy
        self.beta[arm] += self.batch - noisy
        buf.clear()
