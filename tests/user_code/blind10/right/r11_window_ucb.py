"""Sliding window UCB over finished blocks, with staircase noise.

Privacy (unit: one reward in [0, 1]): a chosen section is shown BLOCK times in a row; at the end of the block the sum of
its rewards is released once with staircase noise and all raw values are forgotten.  A reward is part of one block sum
and moves it by at most 1.  The staircase density f depends on |x|, does not increase, and f(|x|+1) = e^-EPSILON f(|x|),
so f(x - d) <= e^EPSILON f(x) for |d| <= 1.  Indices use released sums and counts of pulls, which are public actions.
"""
import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

EPSILON = 0.7
BLOCK = 4
WINDOW = 3


def staircase(rng, eps=EPSILON):
    b = math.exp(-eps)
    gamma = 1.0 / (1.0 + math.exp(eps / 2))
    sign = 1.0 if rng.random() < 0.5 else -1.0
    step = rng.geometric(1.0 - b) - 1
    if rng.random() < gamma / (gamma + (1.0 - gamma) * b):
        offset = gamma * rng.random()
    else:
        offset = gamma + (1.0 - gamma) * rng.random()
    return sign * (step + offset)


@dataclass
class WindowUCB:
    n_arms: int
    rng: np.random.Generator
    width: float = 0.6
    blocks: list = field(init=False)
    current: int = field(init=False, default=0)
    left: int = field(init=False, default=0)
    running: float = field(init=False, default=0.0)

    def __post_init__(self):
        self.blocks = [deque(maxlen=WINDOW) for _ in range(self.n_arms)]

    def _index(self, arm):
        seen = self.blocks[arm]
        if not seen:
            return math.inf
        n = BLOCK * len(seen)
        return sum(seen) / n + self.width * math.sqrt(math.log(1 + BLOCK * WINDOW * self.n_arms) / n)

    def select(self):
        if self.left == 0:
            self.current = max(range(self.n_arms), key=self._index)
            self.left, self.running = BLOCK, 0.0
        return self.current

    def update(self, arm, reward):
        self.running += float(reward)
        self.left -= 1
        if self.left == 0:
            self.blocks[arm].append(self.running + staircase(self.rng))
            self.running = 0.0
