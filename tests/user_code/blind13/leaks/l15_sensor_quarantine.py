"""Depot picker with telemetry health checks.

DepotPicker(n_arms, horizon, epsilon, rng), default epsilon = 1.0.  Every service score is stored only
after Laplace(1/epsilon) noise, and the picker is epsilon-greedy on the noisy averages.  A health monitor
takes a depot out of service for a few rounds when its feed looks frozen.
"""
from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np


@dataclass
class Health:
    repeat: int = 3
    quarantine: int = 6
    low: float = 0.05
    high: float = 0.95      # saturated readings are legitimate and never count as frozen


class FeedMonitor:
    def __init__(self, health):
        self.health = health
        self.feed = defaultdict(lambda: deque(maxlen=health.repeat))

    def frozen(self, depot, reading):
        ring = self.feed[depot]
        ring.append(round(reading, 3))
        full = len(ring) == ring.maxlen
        return full and len(set(ring)) == 1 and self.health.low < ring[0] < self.health.high


class DepotPicker:
    def __init__(self, n_arms=3, horizon=45, epsilon=1.0, rng=None, explore=0.2):
        self.n_arms, self.epsilon, self.explore = n_arms, epsilon, explore
        self.rng = rng if rng is not None else np.random.default_rng()
        self.health = Health()
        self.monitor = FeedMonitor(self.health)
        self.total, self.count = np.zeros(n_arms), np.zeros(n_arms)
        self.blocked_until = np.zeros(n_arms, dtype=int)
        self.clock = 0

    def select(self):
        open_arms = np.flatnonzero(self.blocked_until <= self.clock)
        if open_arms.size == 0:
            open_arms = np.arange(self.n_arms)
        if self.clock < self.n_arms or self.rng.random() < self.explore:
            return int(self.rng.choice(open_arms))
        means = self.total[open_arms] / np.maximum(self.count[open_arms], 1)
        return int(open_arms[np.argmax(means)])

    def update(self, arm, reward):
        self.clock += 1
        self.total[arm] += reward + self.rng.laplace(0.0, 1.0 / self.epsilon)
        self.count[arm] += 1
        if self.monitor.frozen(arm, float(reward)):
            self.blocked_until[arm] = self.clock + self.health.quarantine
