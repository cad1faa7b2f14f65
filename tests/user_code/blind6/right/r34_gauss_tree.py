"""UCB on Gaussian tree sums."""
import math

import numpy as np


class GaussTree:
    def __init__(self, n_arms=2, horizon=64, epsilon=2.0, rng=None):
        self.rng = rng or np.random.default_rng()
        log_term = math.log(1e5)
        rho = (math.sqrt(log_term + epsilon) - math.sqrt(log_term)) ** 2
        levels = horizon.bit_length()
        self.sigma = math.sqrt(levels / (2 * rho))
        self.nodes = [[] for _ in range(n_arms)]
        self.n = np.zeros(n_arms, dtype=int)

    def _sum(self, arm):
        return sum(node["noisy"] for node in self.nodes[arm])

    def select(self):
        if (self.n == 0).any():
            return int(np.flatnonzero(self.n == 0)[0])
        est = np.array([self._sum(a) for a in range(self.n.size)]) / self.n
        return int(np.argmax(est + np.sqrt(2 * np.log(self.n.sum()) / self.n)))

    def update(self, arm, reward):
        stack = self.nodes[arm]
        size, total = 1, float(reward)
        while stack and stack[-1]["size"] == size:
            total += stack.pop()["total"]
            size *= 2
        stack.append({"size": size, "total": total,
                      "noisy": total + self.rng.normal(0.0, self.sigma)})
        self.n[arm] += 1
