"""Successive elimination over phases that double, as a dataclass.

Right. Each phase begins with empty sums, so a reward is in the sum of one arm in one phase only. The sums
are released once, at the end of the phase, with Laplace noise of scale 1 / epsilon. A phase that the
horizon cuts off is never released. By parallel composition over phases (the borders of a phase are a
function of earlier releases) the run is epsilon-private.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class PhasedElimination:
    n_arms: int
    rng: np.random.Generator
    epsilon: float = 0.8
    phase: int = 1
    queue: list = field(default_factory=list)
    active: list = field(default_factory=list)
    sums: dict = field(default_factory=dict)

    def __post_init__(self):
        self.active = list(range(self.n_arms))
        self._start()

    def _start(self):
        pulls = 2**self.phase
        self.queue = [arm for _ in range(pulls) for arm in self.active]
        self.sums = dict.fromkeys(self.active, 0.0)

    def _finish(self):
        pulls = 2**self.phase
        means = {a: (s + self.rng.laplace(0, 1 / self.epsilon)) / pulls for a, s in self.sums.items()}
        top = max(means.values())
        radius = np.sqrt(2 / pulls) / 2 + 1 / (pulls * self.epsilon)
        self.active = [a for a in self.active if means[a] >= top - 2 * radius]
        self.phase += 1
        self._start()

    def select(self):
        return self.queue[0]

    def update(self, arm, reward):
        self.queue.pop(0)
        self.sums[arm] += reward
        if not self.queue:
            self._finish()
