"""Block-greedy bandit reading its Laplace noise from a tape, epsilon = 1.

The noise is prepared before the first round so that select() stays cheap.
Blocks of twelve rounds: three probes per arm, then three rounds on the best
noisy block sum.
"""
from itertools import cycle, islice

import numpy as np


class Tape:
    def __init__(self, length, scale, rng):
        self._it = cycle(rng.laplace(0.0, scale, length).tolist())

    def take(self, n):
        return np.fromiter(islice(self._it, n), dtype=float, count=n)


class TapeGreedy:
    def __init__(self, n_arms=3, horizon=48, epsilon=1.0, rng=None):
        self.k = n_arms
        self.probe = 3 * n_arms
        self.block = self.probe + 3
        self.tape = Tape(2 * n_arms + 1, 1.0 / epsilon, rng)
        self.clock = 0
        self.sums = np.zeros(n_arms)
        self.best = 0

    def select(self):
        where = self.clock % self.block
        return where % self.k if where < self.probe else self.best

    def update(self, arm, reward):
        where = self.clock % self.block
        self.clock += 1
        match where:
            case w if w < self.probe - 1:
                self.sums[arm] += reward
            case w if w == self.probe - 1:
                self.sums[arm] += reward
                self.best = int(np.argmax(self.sums + self.tape.take(self.k)))
                self.sums[:] = 0.0
            case _:
                pass
