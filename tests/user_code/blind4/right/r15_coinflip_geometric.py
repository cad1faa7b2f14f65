"""Batched greedy learner; integer tallies receive noise built from biased coin flips."""
import math


class CoinFlipBatches:
    def __init__(self, n_arms, rng, epsilon=1.0, batch=8):
        self.n_arms, self.rng, self.batch = n_arms, rng, batch
        self.heads = math.exp(-epsilon)
        self.estimate = [None] * n_arms
        self.current, self.tally, self.left = 0, 0, batch

    def _run(self):
        n = 0
        while self.rng.random() < self.heads:
            n += 1
        return n

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.tally += 1 if self.rng.random() < reward else 0
        self.left -= 1
        if self.left == 0:
            self.estimate[arm] = (self.tally + self._run() - self._run()) / self.batch
            self.tally, self.left = 0, self.batch
            todo = [a for a in range(self.n_arms) if self.estimate[a] is None]
            if todo:
                self.current = todo[0]
            elif self.rng.random() < 0.2:
                self.current = int(self.rng.integers(self.n_arms))
            else:
                self.current = max(range(self.n_arms), key=lambda a: self.estimate[a])
