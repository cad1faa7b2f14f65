"""Delivery scheduler with one prepaid line item.

PrepaidScheduler(n_arms, horizon, epsilon, rng), default epsilon = 1.5.  Rewards steer the traffic through
randomised response only (local DP, one bit per round).  Line items that have used their contract are
taken out of the rotation, as billing requires.
"""
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np


@dataclass
class LineItem:
    arm: int
    contract: float = math.inf
    billed: float = 0.0

    @property
    def live(self):
        return self.billed < self.contract

    def bill(self, amount):
        self.billed += amount


class PrepaidScheduler:
    CONTRACT = 6.0

    def __init__(self, n_arms=3, horizon=48, epsilon=1.5, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        self.items = [LineItem(a) for a in range(n_arms)]
        self.items[n_arms // 2].contract = self.CONTRACT
        self.wins, self.shows = Counter(), Counter()
        self.explore = 0.25

    def _rate(self, arm):
        return (self.wins[arm] + 1.0) / (self.shows[arm] + 2.0)

    def select(self):
        live = [item.arm for item in self.items if item.live]
        if self.rng.random() < self.explore:
            return int(self.rng.choice(live))
        return max(live, key=lambda a: (self._rate(a), -a))

    def update(self, arm, reward):
        reward = min(1.0, max(0.0, float(reward)))
        bit = self.rng.random() < reward
        if self.rng.random() >= self.keep:
            bit = not bit
        self.wins[arm] += int(bit)
        self.shows[arm] += 1
        self.items[arm].bill(reward)
