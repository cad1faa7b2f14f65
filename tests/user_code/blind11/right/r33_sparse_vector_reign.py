"""An arm reigns until the sparse vector technique says that its losses have passed a limit; then the next arm reigns.

In a reign the queries are q_i = total loss after i rounds; bar = LIMIT + Lap(1/eps), tested against q_i + fresh Lap(1/eps).  A changed
reward belongs to one reign and moves q_t, q_(t+1), ... by one common d, |d| <= 1.  Let f(b) = P(no test before n passes | bar b) and
g(b) = P(test n passes | bar b), n >= t (for n < t nothing changes).  If d >= 0: f'(b + d) >= f(b) and g'(b + d) = g(b), as q_n moves
by d too, so only the bar pays for the shift.  If d < 0: f'(b) >= f(b) and g'(b) >= e^-eps g(b), so only test n pays.  Both give
P' >= e^-eps P for a reign of length n (an unfinished one lacks g); the common d is why eps need not be split in two.  The next reign
has fresh noise and fresh losses, so the bound holds for the whole sequence of actions.
"""
from dataclasses import dataclass
from enum import Enum

import numpy as np

EPSILON = 1.0
LIMIT = 3.0


class Court(Enum):
    CORONATION = "coronation"
    REIGN = "reign"


@dataclass
class Reign:
    n_arms: int
    rng: np.random.Generator
    king: int = 0
    court: Court = Court.CORONATION
    bar: float = 0.0
    loss: float = 0.0

    def select(self):
        match self.court:
            case Court.CORONATION:
                self.bar = LIMIT + self.rng.laplace(scale=1 / EPSILON)
                self.loss = 0.0
                self.court = Court.REIGN
            case Court.REIGN:
                pass
        return self.king

    def update(self, arm, reward):
        self.loss += 1.0 - float(reward)
        if self.loss + self.rng.laplace(scale=1 / EPSILON) >= self.bar:
            self.king = (self.king + 1) % self.n_arms
            self.court = Court.CORONATION
