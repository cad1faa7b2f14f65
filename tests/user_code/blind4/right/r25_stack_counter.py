"""Optimistic learner; each arm owns a stack of merged blocks with one noise per block."""
from dataclasses import dataclass, field
import math
import numpy as np


@dataclass
class Block:
    size: int
    exact: float
    noisy: float


@dataclass
class ArmLedger:
    scale: float
    rng: np.random.Generator
    stack: list = field(default_factory=list)
    pulls: int = 0

    def push(self, x):
        self.pulls += 1
        size, exact = 1, x
        while self.stack and self.stack[-1].size == size:
            top = self.stack.pop()
            exact += top.exact
            size *= 2
        self.stack.append(Block(size, exact, exact + self.rng.laplace(0, self.scale)))

    def mean(self):
        return sum(b.noisy for b in self.stack) / self.pulls


class StackCounterUCB:
    def __init__(self, n_arms, horizon, rng, epsilon=2.0):
        depth = int(math.floor(math.log2(horizon))) + 1
        self.arms = [ArmLedger(depth / epsilon, rng) for _ in range(n_arms)]
        self.clock = 0

    def select(self):
        best, best_val = 0, -math.inf
        for i, led in enumerate(self.arms):
            val = math.inf if led.pulls == 0 else led.mean() + math.sqrt(math.log(self.clock + 1) / led.pulls)
            if val > best_val:
                best, best_val = i, val
        return best

    def update(self, arm, reward):
        self.arms[arm].push(min(1.0, max(0.0, reward)))
        self.clock += 1
