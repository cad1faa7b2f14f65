"""Block-wise private leader: K = 3, horizon 48, claimed epsilon = 1.0 (pure).

A block has six trial rounds (two per arm) and six rounds of the leader.  The leader is found
on the block's trial sums with Laplace(1/epsilon) noise.  Answers of a block are kept in a
small desk of queries, so that asking twice does not average the noise away.
"""
import numpy as np


class QueryDesk:
    def __init__(self, epsilon, rng):
        self.scale = 1.0 / epsilon
        self.rng = rng
        self.block = 0
        self.answers = {}

    def ask(self, value):
        key = (self.block, round(value, 2))
        if key not in self.answers:
            self.answers[key] = value + self.rng.laplace(0.0, self.scale)
        return self.answers[key]

    def next_block(self):
        self.block += 1


class BlockLeader:
    def __init__(self, n_arms=3, horizon=48, epsilon=1.0, rng=None):
        self.k = n_arms
        self.desk = QueryDesk(epsilon, rng)
        self.trials = 2 * n_arms
        self.length = 4 * n_arms
        self.pos = 0
        self.leader = 0
        self.sums = np.zeros(n_arms)

    def choose(self):
        if self.pos < self.trials:
            return self.pos % self.k
        if self.pos == self.trials:
            self.leader = max(range(self.k), key=lambda a: self.desk.ask(float(self.sums[a])))
        return self.leader

    def learn(self, arm, reward):
        if self.pos < self.trials:
            self.sums[arm] += reward
        self.pos += 1
        if self.pos == self.length:
            self.pos = 0
            self.sums[:] = 0.0
            self.desk.next_block()
