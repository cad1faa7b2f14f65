"""Response-adaptive allocation: play-the-winner urn with delayed outcomes.

TrialUrn(n_arms, horizon, epsilon, rng), default epsilon = 2.5.  Outcomes come in after a delay fixed by
the visit calendar.  On enrolment each outcome is privatised once into a bit with
P(1 | r) = (1 + r (e^eps - 1)) / (e^eps + 1); the urn only ever sees the bit.
"""
import heapq
import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(order=True)
class Visit:
    due: int
    serial: int
    arm: int = field(compare=False)
    bit: int = field(compare=False)


class TrialUrn:
    BALLS = 4.0

    def __init__(self, n_arms=3, horizon=40, epsilon=2.5, rng=None):
        self.n_arms = n_arms
        self.rng = rng if rng is not None else np.random.default_rng()
        self.e = math.exp(epsilon)
        self.urn = [1.0] * n_arms
        self.calendar = []
        self.patient = 0

    def _settle(self):
        while self.calendar and self.calendar[0].due <= self.patient:
            visit = heapq.heappop(self.calendar)
            if visit.bit:
                self.urn[visit.arm] += self.BALLS
            else:
                for other in range(self.n_arms):
                    if other != visit.arm:
                        self.urn[other] += self.BALLS / (self.n_arms - 1)

    def select(self):
        self._settle()
        ticket = self.rng.random() * sum(self.urn)
        for arm, balls in enumerate(self.urn):
            ticket -= balls
            if ticket < 0:
                return arm
        return self.n_arms - 1

    def update(self, arm, outcome):
        outcome = min(1.0, max(0.0, float(outcome)))
        p_one = (1.0 + outcome * (self.e - 1.0)) / (self.e + 1.0)
        bit = int(self.rng.random() < p_one)
        self.patient += 1
        delay = self.patient % 3
        heapq.heappush(self.calendar, Visit(self.patient + delay, self.patient, arm, bit))
