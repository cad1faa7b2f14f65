"""Batched greedy bandit behind a small query server, epsilon = 1.

The server answers sum queries with Laplace noise.  To stop averaging attacks it
remembers its answers: the same query always gets the same reply.
"""
import numpy as np


class SumServer:
    def __init__(self, epsilon, rng):
        self.scale = 1.0 / epsilon
        self.rng = rng
        self._answers = {}

    def ask(self, values):
        query = round(float(np.sum(values)), 2)
        if query not in self._answers:
            self._answers[query] = query + self.rng.laplace(0.0, self.scale)
        return self._answers[query]


class ConsistentGreedy:
    probes = 3
    tail = 4

    def __init__(self, n_arms=3, horizon=39, epsilon=1.0, rng=None):
        self.k = n_arms
        self.server = SumServer(epsilon, rng)
        self.block = self.k * self.probes + self.tail
        self.t = 0
        self.log = [[] for _ in range(n_arms)]
        self.leader = 0

    def select(self):
        pos = self.t % self.block
        return pos % self.k if pos < self.k * self.probes else self.leader

    def update(self, arm, reward):
        pos = self.t % self.block
        self.t += 1
        if pos < self.k * self.probes:
            self.log[arm].append(reward)
        if pos == self.k * self.probes - 1:
            answers = [self.server.ask(v) for v in self.log]
            self.leader = int(np.argmax(answers))
            self.log = [[] for _ in range(self.k)]
