"""Epsilon-first bandit with a private futility stop.

The first third of the rounds explores; outcomes get Laplace(1/epsilon) noise at
once and the arm with the best noisy mean becomes the favourite.  From then on the
losses of the favourite are watched: the stopping limit is noised once, as in the
sparse vector technique where negative answers are free, and the policy falls back
to the runner-up for good as soon as the losses pass the limit.  Exploration and
watching use different rewards.  Claims epsilon = 1.0 (pure).
"""
import numpy as np


class FutilityStop:
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        self.k, self.eps, self.rng = n_arms, epsilon, rng
        self.explore = (horizon // 3) // n_arms * n_arms
        self.clock = 0
        self.noisy = np.zeros(n_arms)
        self.ranking = None
        self.loss = 0.0
        self.limit = 0.3 * (horizon - self.explore) / 2 + rng.laplace(0, 1 / epsilon)
        self.stopped = False

    def select(self):
        if self.clock < self.explore:
            return self.clock % self.k
        if self.ranking is None:
            self.ranking = np.argsort(-self.noisy).tolist()
        return self.ranking[1] if self.stopped else self.ranking[0]

    def update(self, arm, reward):
        self.clock += 1
        if self.clock <= self.explore:
            self.noisy[arm] += reward + self.rng.laplace(0, 1 / self.eps)
        elif not self.stopped:
            self.loss += 1.0 - reward
            self.stopped = self.loss > self.limit
