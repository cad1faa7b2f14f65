"""Block-wise follow-the-leader with Gumbel noise and a budget that is split over the
blocks.  K = 4, T = 48, epsilon = 3 in total (pure).

Only the probe rounds at the head of a block feed the scores.  The choice of block
b spends eps_b, and the eps_b sum to epsilon.
"""
from functools import reduce
from itertools import chain
import numpy as np


class BlockGumbel:
    N_BLOCKS = 3

    def __init__(self, n_arms, horizon, epsilon, rng):
        self.k = n_arms
        self.rng = rng
        self.block_len = horizon // self.N_BLOCKS
        raw = [1.0 / (b + 1.0) for b in range(self.N_BLOCKS)]
        total = reduce(lambda x, y: x + y, raw)
        self.shares = [epsilon * r / total for r in raw]
        self.scores = np.zeros(n_arms)
        self.t = 0
        self.leader = 0
        self._probe_plan()

    def _probe_plan(self):
        self.plan = list(chain(self.rng.permutation(self.k), self.rng.permutation(self.k)))

    def _choose(self, block):
        g = self.rng.gumbel(size=self.k)
        return int(np.argmax(self.shares[block] * self.scores + g))

    def choose(self):
        pos = self.t % self.block_len
        return int(self.plan[pos]) if pos < len(self.plan) else self.leader

    def learn(self, arm, reward):
        block, pos = divmod(self.t, self.block_len)
        if pos < len(self.plan):
            self.scores[arm] += reward
        if pos == len(self.plan) - 1 and block < self.N_BLOCKS:
            self.leader = self._choose(block)
        self.t += 1
        if self.t % self.block_len == 0:
            self._probe_plan()


def make(rng):
    return BlockGumbel(4, 48, 3.0, rng)
