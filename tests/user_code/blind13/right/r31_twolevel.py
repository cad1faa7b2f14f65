"""Satisficing bandit on two-level (square-root) private prefix sums.

Claim: epsilon = 2 (pure).  Each arm has a running sum made of closed blocks and single items of the open block.
A reward enters one item and one block, so each of the two levels has Laplace noise with scale 2 / epsilon.
"""
from dataclasses import dataclass, field
from typing import Optional

import numpy as np


def laplace(rng, scale):
    """A symmetric exponential."""
    size = rng.exponential(scale)
    return size if rng.integers(2) else -size


@dataclass
class PrefixSum:
    scale: float
    rng: np.random.Generator
    block: int = 4
    closed: float = 0.0
    open_items: list = field(default_factory=list)
    raw_open: float = 0.0
    count: int = 0

    def push(self, value):
        self.count += 1
        self.raw_open += value
        self.open_items.append(value + laplace(self.rng, self.scale))
        if len(self.open_items) == self.block:
            self.closed += self.raw_open + laplace(self.rng, self.scale)
            self.open_items.clear()
            self.raw_open = 0.0

    @property
    def mean(self) -> Optional[float]:
        if self.count == 0:
            return None
        return (self.closed + sum(self.open_items)) / self.count


class Policy:
    def select(self):
        raise NotImplementedError

    def update(self, arm, reward):
        raise NotImplementedError


class TwoLevelSatisficer(Policy):
    target = 0.7

    def __init__(self, n_arms=3, horizon=48, epsilon=2.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.sums = [PrefixSum(2.0 / epsilon, self.rng) for _ in range(n_arms)]
        self.current = 0

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.sums[arm].push(min(max(float(reward), 0.0), 1.0))
        if self.sums[arm].mean < self.target:
            self.current = (arm + 1) % len(self.sums)
