"""Leader with a privacy ledger."""
import numpy as np


class Ledger:
    def __init__(self, total):
        self.left = total

    def can(self, cost):
        return self.left >= cost

    def charge(self, cost):
        self.left -= cost


class LedgerBandit:
    def __init__(self, epsilon=1.0, horizon=60, rng=None):
        self.rng = rng or np.random.default_rng()
        self.cost = epsilon / 2
        self.ledger = Ledger(epsilon)
        self.diff, self.t, self.leader = 0.0, 0, 0
        self.every = max(1, horizon // 15)

    def select(self):
        return self.t % 2 if self.t < 8 else self.leader

    def update(self, arm, reward):
        if self.t < 8:
            self.diff += reward if arm else -reward
        self.t += 1
        if self.t >= 8 and self.t % self.every == 0 and self.ledger.can(self.cost):
            new = int(self.diff + self.rng.laplace(0, 1 / self.cost) > 0)
            if new != self.leader:
                self.ledger.charge(self.cost)
                self.leader = new
