"""The noise of an epoch is shared among the arms that were played in it.

Leak. The scale is (number of distinct arms of the epoch) / (n_arms * epsilon), as if the budget were
divided by arms. With all three arms in play that is 1 / epsilon, but once a single arm is left it is 1 / (3
epsilon). Worst pair: after two arms were dropped, an epoch of the last one sums to half or to one less;
staying or beginning again then has ratio e^(3 epsilon). Each epoch uses fresh rewards, so that epsilon is 3
times the claim.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class SharedNoise:
    n_arms: int
    rng: np.random.Generator
    epsilon: float = 0.5
    epoch: int = 6
    alive: list = field(default_factory=list)
    log: list = field(default_factory=list)

    def __post_init__(self):
        self.alive = list(range(self.n_arms))

    def select(self):
        return self.alive[len(self.log) % len(self.alive)]

    def update(self, arm, reward):
        self.log.append((arm, reward))
        if len(self.log) < self.epoch:
            return
        distinct = {a for a, _ in self.log}
        scale = len(distinct) / (self.n_arms * self.epsilon)
        kept = []
        for a in self.alive:
            mine = [r for b, r in self.log if b == a]
            if sum(mine) + self.rng.laplace(0, scale) >= len(mine) / 2:
                kept.append(a)
        self.alive = kept or list(range(self.n_arms))
        self.log = []
