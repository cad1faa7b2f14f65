"""Blocks whose noisy value is a property: each look at it is a new draw.

Leak. The value of a block looks like an attribute, but it draws its noise whenever it is read, and it is
read in three decisions. Worst pair: the block of the first arm sums to its mark or to one less; three
positive decisions have a ratio of e^(3 EPSILON).
"""

from dataclasses import dataclass

import numpy as np

EPSILON = 0.75


@dataclass
class Block:
    total: float
    pulls: int
    rng: np.random.Generator

    @property
    def value(self):
        return self.total + self.rng.laplace(0, 1 / EPSILON)

    @property
    def good(self):
        return self.value >= self.pulls / 2


def play(rewards, rng):
    horizon, _ = rewards.shape
    actions = []
    while len(actions) < horizon:
        start = len(actions)
        pulls = min(6, horizon - start)
        block = Block(float(rewards[start : start + pulls, 0].sum()), pulls, rng)
        actions += [0] * pulls
        for _ in range(3):
            actions += [0 if block.good else 1] * 2
    return np.array(actions[:horizon])
