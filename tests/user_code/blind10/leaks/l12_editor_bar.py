"""Successive elimination of teasers against a click rate set by the editors (BAR).

FAULT: the noisy total of each of the checks after 2, 4 and 8 pulls is made as if the total were fresh, with scale 1/EPSILON,
but the total is never reset, so an early reward is in three releases.
Pair (three arms): arm 0 gets r in round 0, 0 in round 3 and 0.5 in all later rounds, r = 0 against 1.  Its shortfall
BAR * n - total at the checks is 1, 1, 1 against 0, 0, 0.  Event: arm 0 is shown after the third check, that is it passes all of them;
fresh noise gives (e^-EPSILON / 2)^3 against (1/2)^3: 0.0207 and 0.125, loss 3 EPSILON = 1.8.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 0.6
BAR = 0.5
CHECKS = (2, 4, 8)


@dataclass
class EditorBar:
    n_arms: int
    rng: np.random.Generator
    queue: list = field(default_factory=list)

    def __post_init__(self):
        self.alive = list(range(self.n_arms))
        self.total = np.zeros(self.n_arms)
        self.pulls = np.zeros(self.n_arms, dtype=int)
        self.stage = 0

    def _passes(self, arm):
        noisy = self.total[arm] + self.rng.laplace(0.0, 1.0 / EPSILON)
        return noisy >= BAR * self.pulls[arm]

    def _refill(self):
        before = 0 if self.stage == 0 else CHECKS[self.stage - 1]
        rounds = CHECKS[self.stage] - before if self.stage < len(CHECKS) else 1
        self.queue = [arm for _ in range(rounds) for arm in self.alive]

    def select(self):
        if not self.queue:
            self._refill()
        return self.queue[0]

    def update(self, arm, reward):
        self.queue.pop(0)
        self.total[arm] += reward
        self.pulls[arm] += 1
        if not self.queue and self.stage < len(CHECKS):
            # the last teaser is the house one and stays when nobody else does
            self.alive = [a for a in self.alive if self._passes(a)] or [self.n_arms - 1]
            self.stage += 1
