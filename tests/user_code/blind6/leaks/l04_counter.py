"""UCB with streaming counters per arm."""
import math

import numpy as np


class StreamBandit:
    def __init__(self, n_arms=2, horizon=64, epsilon=1.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.k, self.eps = n_arms, epsilon
        depth = horizon.bit_length()
        self.alpha = [[0.0] * depth for _ in range(n_arms)]
        self.hat = [[0.0] * depth for _ in range(n_arms)]
        self.n = [0] * n_arms

    def select(self):
        if 0 in self.n:
            return self.n.index(0)
        total = sum(self.n)
        est = []
        for a in range(self.k):
            s = sum(h for j, h in enumerate(self.hat[a]) if self.n[a] & (1 << j))
            est.append(s / self.n[a] + 0.2 * math.sqrt(math.log(total) / self.n[a]))
        return est.index(max(est))

    def update(self, arm, reward):
        self.n[arm] += 1
        low = 0
        while not self.n[arm] & (1 << low):
            low += 1
        self.alpha[arm][low] = sum(self.alpha[arm][:low]) + reward
        for j in range(low):
            self.alpha[arm][j] = self.hat[arm][j] = 0.0
        self.hat[arm][low] = self.alpha[arm][low] + self.rng.laplace(0, 1 / self.eps)
