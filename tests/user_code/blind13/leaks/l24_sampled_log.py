"""Feed ranking that learns from a sampled log.

SampledLogRanker(n_arms, horizon, epsilon, rng), default epsilon = 1.0.  Only a random quarter of the
traffic is logged: with probability Q a request is used for exploration and its reward is logged, all other
rewards are dropped.  At the end of an epoch the new leader is drawn with weights exp(eps0 * logged total),
eps0 = ln(1 + (e^eps - 1)/Q): by sub-sampling, one reward costs epsilon.  The log is emptied each epoch.
"""
from dataclasses import dataclass

import numpy as np


@dataclass
class Budget:
    epsilon: float
    q: float

    @property
    def inner(self):
        return float(np.log1p(np.expm1(self.epsilon) / self.q))


class SampledLogRanker:
    Q = 0.25
    EPOCH = 10

    def __init__(self, n_arms=4, horizon=50, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.rng = rng if rng is not None else np.random.default_rng()
        self.budget = Budget(epsilon, self.Q)
        self.leader = int(self.rng.integers(n_arms))
        self.log = []
        self.sampled = False
        self.clock = 0
        self.metrics = {"sampled": 0, "dropped": 0, "leader_changes": 0}

    def select(self):
        self.sampled = self.rng.random() < self.Q
        if not self.sampled:
            return self.leader
        others = [a for a in range(self.n_arms) if a != self.leader]
        return int(self.rng.choice(others))

    def update(self, arm, reward):
        self.clock += 1
        if self.sampled:
            self.log.append((arm, min(1.0, max(0.0, float(reward)))))
            self.metrics["sampled"] += 1
        else:
            self.metrics["dropped"] += 1
        if self.clock % self.EPOCH == 0:
            self._new_leader()

    def _new_leader(self):
        totals = np.bincount([a for a, _ in self.log], [r for _, r in self.log], self.n_arms)
        w = np.exp(self.budget.inner * (totals - totals.max()))
        leader = int(self.rng.choice(self.n_arms, p=w / w.sum()))
        self.metrics["leader_changes"] += int(leader != self.leader)
        self.leader = leader
        self.log.clear()
