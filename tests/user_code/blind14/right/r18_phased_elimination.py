"""Phased elimination with forgetting.  K = 4, T = 60, epsilon = 1 (pure).

A phase plays each surviving arm the same number of times, adds Laplace(1/eps) to
each arm's sum of this phase and then throws the sums away, so that a reward is
used in one noisy sum only.
"""
from dataclasses import dataclass, field
from typing import Any
import math


@dataclass
class PhasedElimination:
    n_arms: int = 4
    horizon: int = 60
    epsilon: float = 1.0
    rng: Any = None
    alive: list = field(default_factory=list)
    phase: int = 0
    queue: list = field(default_factory=list)
    sums: dict = field(default_factory=dict)

    def __post_init__(self):
        self.alive = list(range(self.n_arms))
        self._open_phase()

    @property
    def pulls(self):
        return 2 ** (self.phase + 1)

    def _open_phase(self):
        self.queue = [a for _ in range(self.pulls) for a in self.alive]
        self.sums = {a: 0.0 for a in self.alive}

    def _close_phase(self):
        noisy = {a: (s + self.rng.laplace(0.0, 1.0 / self.epsilon)) / self.pulls
                 for a, s in self.sums.items()}
        width = 0.5 * math.sqrt(1.0 / self.pulls)
        top = max(noisy.values())
        self.alive = [a for a in self.alive if noisy[a] + width >= top]
        self.phase += 1
        self._open_phase()

    def act(self):
        return self.queue[0]

    def observe(self, arm, reward):
        self.queue.pop(0)
        self.sums[arm] += reward
        if not self.queue:
            self._close_phase()
