"""Order routing with a heap of optimistic indices, refreshed after each full batch.

Claim: epsilon-DP (default EPSILON) for the action sequence, one reward in [0, 1] changed.
Proof. A reward r becomes a fill bit, 1 with probability r; the bit counts in the open batch of its broker
and in no other.  With the batch closes a count plus two-sided geometric noise of ratio exp(-epsilon),
P(k) ~ exp(-epsilon |k|).  Fix all other bits: changing one bit moves one count by 1, a factor exp(epsilon)
at most; averaging over the bit's law keeps it.  Batch sizes depend on how many batches the broker had,
the heap on the noisy counts alone, so actions are post-processing.
"""
import heapq
import math
from dataclasses import dataclass, field

import numpy as np

EPSILON = 0.8


@dataclass
class HeapBroker:
    n_arms: int
    rng: np.random.Generator
    epsilon: float = EPSILON
    first_batch: int = 2
    heap: list = field(init=False, default_factory=list)
    size: dict = field(init=False, default_factory=dict)
    fills: int = field(init=False, default=0)
    pulls: int = field(init=False, default=0)
    clock: int = field(init=False, default=1)

    def __post_init__(self):
        self.heap = [(-math.inf, arm) for arm in range(self.n_arms)]
        self.size = {arm: self.first_batch for arm in range(self.n_arms)}
        heapq.heapify(self.heap)

    def _two_sided(self):
        stop = -math.expm1(-self.epsilon)
        return int(self.rng.geometric(stop)) - int(self.rng.geometric(stop))

    def select(self):
        return self.heap[0][1]

    def update(self, arm, reward):
        self.fills += int(self.rng.random() < reward)
        self.pulls += 1
        self.clock += 1
        if self.pulls < self.size[arm]:
            return
        estimate = (self.fills + self._two_sided()) / self.pulls
        bonus = math.sqrt(math.log(self.clock) / (2 * self.pulls)) + 0.5 / (self.epsilon * self.pulls)
        heapq.heapreplace(self.heap, (-(estimate + bonus), arm))
        self.size[arm] *= 2
        self.fills = self.pulls = 0
