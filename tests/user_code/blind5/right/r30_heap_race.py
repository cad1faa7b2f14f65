"""Race of arms in a priority queue keyed by noisy optimistic batch averages."""
import heapq
from dataclasses import dataclass, field

import numpy as np


@dataclass
class HeapRace:
    n_arms: int = 5
    horizon: int = 120
    epsilon: float = 1.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    batch: int = 5

    def __post_init__(self):
        self.heap = [(-2.0, arm, 0, 0.0) for arm in range(self.n_arms)]
        heapq.heapify(self.heap)
        self._pop()

    def _pop(self):
        _, self.arm, self.batches, self.noisy = heapq.heappop(self.heap)
        self.running, self.left = 0.0, self.batch

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.running += reward
        self.left -= 1
        if self.left:
            return
        noisy = self.noisy + self.running + self.rng.laplace(0.0, 1.0 / self.epsilon)
        batches = self.batches + 1
        n = batches * self.batch
        key = noisy / n + np.sqrt(np.log(self.horizon) / n)
        heapq.heappush(self.heap, (-float(key), arm, batches, noisy))
        self._pop()
