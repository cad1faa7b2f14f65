"""UCB on privately offset reward sums, epsilon = 1 (pure).

Every arm's sum of rewards, which has sensitivity one, is perturbed by Laplace noise
of scale 1 / epsilon obtained by the inverse CDF; the index adds the usual bonus.
"""
import functools
import math


class OffsetUCB:
    def __init__(self, n_arms=2, horizon=40, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.rng = rng
        self.sums = [0.0] * n_arms
        self.counts = [0] * n_arms
        self.t = 0
        self.offset = functools.cache(self._laplace)

    def _laplace(self, arm):
        u = self.rng.random() - 0.5
        return -math.copysign(math.log(max(1e-300, 1.0 - 2.0 * abs(u))), u) / self.epsilon

    def _index(self, arm):
        noisy = self.sums[arm] + self.offset(arm)
        n = self.counts[arm]
        return noisy / n + math.sqrt(0.5 * math.log(self.t + 1) / n)

    def select(self):
        for arm in range(self.n_arms):
            if self.counts[arm] == 0:
                return arm
        return max(range(self.n_arms), key=self._index)

    def update(self, arm, reward):
        self.t += 1
        self.counts[arm] += 1
        self.sums[arm] += min(1.0, max(0.0, float(reward)))
