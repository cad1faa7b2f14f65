"""Rollout controller: canary against stable."""
import logging
import math
import random

log = logging.getLogger("rollout")


class RolloutController:
    def __init__(self, n_arms, epsilon=1.0, min_samples=4, z=1.64):
        self.n = [0] * n_arms
        self.s = [0.0] * n_arms
        self.scale = 1.0 / epsilon
        self.min_samples, self.z = min_samples, z
        self.decision = None

    def _laplace(self):
        return self.scale * (random.expovariate(1) - random.expovariate(1))

    def _significant(self):
        if min(self.n) < self.min_samples:
            return False
        d = self.s[1] / self.n[1] - self.s[0] / self.n[0]
        return abs(d) > self.z * math.sqrt(0.25 / self.n[0] + 0.25 / self.n[1])

    def choose(self):
        if self.decision is not None:
            return self.decision
        return 0 if self.n[0] <= self.n[1] else 1

    def record(self, arm, reward):
        self.n[arm] += 1
        self.s[arm] += reward
        if self.decision is None and (self._significant() or sum(self.n) >= 24):
            noisy = [s + self._laplace() for s in self.s]
            self.decision = noisy.index(max(noisy))
            log.info("decided for %d", self.decision)


if __name__ == "__main__":
    c = RolloutController(2)
    for _ in range(36):
        a = c.choose()
        c.record(a, random.random())
    print(c.decision)
