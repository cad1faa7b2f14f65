"""UCB whose per-arm reward sums come from a dyadic tree kept in a dictionary."""
import math
import numpy as np


class TreeUCB:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.k = n_arms
        self.levels = horizon.bit_length()
        self.scale = self.levels / epsilon
        self.raw = [dict() for _ in range(n_arms)]      # (level, index) -> partial sum
        self.noise = [dict() for _ in range(n_arms)]
        self.n = [0] * n_arms
        self.t = 0

    def _prefix(self, a):
        total, pos = 0.0, 0
        for lev in reversed(range(self.levels)):
            if self.n[a] >> lev & 1:
                key = (lev, pos >> lev)
                if key not in self.noise[a]:
                    self.noise[a][key] = self.rng.laplace(0, self.scale)
                total += self.raw[a].get(key, 0.0) + self.noise[a][key]
                pos += 1 << lev
        return total

    def select(self):
        for a in range(self.k):
            if self.n[a] == 0:
                return a
        ucb = [self._prefix(a) / self.n[a]
               + math.sqrt(2 * math.log(self.t + 1) / self.n[a]) for a in range(self.k)]
        return int(np.argmax(ucb))

    def update(self, arm, reward):
        i = self.n[arm]
        for lev in range(self.levels):
            key = (lev, i >> lev)
            self.raw[arm][key] = self.raw[arm].get(key, 0.0) + reward
        self.n[arm] += 1
        self.t += 1
