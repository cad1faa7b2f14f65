"""UCB with binary-tree counters and lazily drawn node noise, epsilon = 2 (pure).

Each arm keeps a binary tree over its pulls.  A prefix sum adds the dyadic nodes of
the binary expansion of the pull count; a reward is in one node of each level, so a
node carries Laplace noise of scale levels / epsilon.  Noise is drawn when a node is
first read and memoised.
"""
import functools
import math

import numpy as np


class LazyTreeUCB:
    def __init__(self, n_arms=5, horizon=60, epsilon=2.0, rng=None):
        self.n_arms, self.horizon, self.rng = n_arms, horizon, rng
        self.levels = int(math.log2(max(2, horizon))) + 1
        self.scale = self.levels / epsilon
        self.values = [[] for _ in range(n_arms)]
        self.noise = functools.lru_cache(maxsize=4)(self._draw)

    def _draw(self, arm, level, position):
        return float(self.rng.laplace(0.0, self.scale))

    def _prefix(self, arm):
        n, start, total = len(self.values[arm]), 0, 0.0
        for level in reversed(range(self.levels)):
            width = 1 << level
            if n & width:
                exact = sum(self.values[arm][start:start + width])
                total += exact + self.noise(arm, level, start >> level)
                start += width
        return total

    def select(self):
        counts = [len(v) for v in self.values]
        if 0 in counts:
            return counts.index(0)
        t = sum(counts)
        index = [self._prefix(a) / counts[a] + math.sqrt(math.log(t) / counts[a])
                 for a in range(self.n_arms)]
        return int(np.argmax(index))

    def update(self, arm, reward):
        self.values[arm].append(min(1.0, max(0.0, float(reward))))
