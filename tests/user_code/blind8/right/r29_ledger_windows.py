"""Overlapping windows with a ledger: each block of rewards owns EPSILON and is thrown away when it is spent.

An answer about an arm adds up the blocks that still have credit and adds Laplace noise of scale 1 / COST; every block in
the sum pays COST = EPSILON / 2.  A reward lies in one block of one arm, moves an answer by at most 1, and its block can
pay twice only, so the answers that depend on it cost at most EPSILON together.  Credit depends on the number of answers
and not on rewards.  The Laplace noise is the difference of two exponentials.
"""
from dataclasses import dataclass, field

EPSILON = 1.6
COST = EPSILON / 2
SIZE = 3


@dataclass
class Block:
    total: float = 0.0
    n: int = 0
    credit: int = 2


@dataclass
class LedgerBandit:
    n_arms: int
    rng: object
    blocks: dict = field(default_factory=dict)
    estimate: dict = field(default_factory=dict)
    now: int = 0

    def select(self):
        return self.now

    def update(self, arm, reward):
        mine = self.blocks.setdefault(arm, [])
        if not mine or mine[-1].n == SIZE:
            mine.append(Block())
        mine[-1].total += reward
        mine[-1].n += 1
        if mine[-1].n < SIZE:
            return
        noise = self.rng.exponential(1 / COST) - self.rng.exponential(1 / COST)
        size = sum(b.n for b in mine)
        self.estimate[arm] = (sum(b.total for b in mine) + noise) / size
        for b in mine:
            b.credit -= 1
        self.blocks[arm] = [b for b in mine if b.credit > 0]
        missing = [a for a in range(self.n_arms) if a not in self.estimate]
        if missing:
            self.now = missing[0]
        elif self.rng.random() < 0.2:
            self.now = int(self.rng.integers(self.n_arms))
        else:
            self.now = max(self.estimate, key=self.estimate.get)
