"""Local-DP UCB: each reward gets Laplace(1/eps) before it is stored.  A guard drops
arms whose feed is dead.  K = 3, T = 40, epsilon = 1 (pure).
"""
from collections import defaultdict, deque
import numpy as np


class FeedMonitor:
    """Watches the feeds: a sensor that sent nothing `patience` times running is dead."""

    def __init__(self, patience=3):
        self.tail = defaultdict(lambda: deque(maxlen=patience))
        self.dead = set()

    def report(self, arm, signal):
        tail = self.tail[arm]
        tail.append(signal > 0.0)
        if len(tail) == tail.maxlen and not any(tail):
            self.dead.add(arm)


class LocalUCB:
    def __init__(self, n_arms=3, horizon=40, epsilon=1.0, rng=None):
        self.n_arms, self.epsilon, self.rng = n_arms, epsilon, rng
        self.total = np.zeros(n_arms)
        self.pulls = np.zeros(n_arms, dtype=int)
        self.monitor = FeedMonitor()

    def select(self):
        fresh = np.flatnonzero(self.pulls == 0)
        if fresh.size:
            return int(fresh[0])
        live = [a for a in range(self.n_arms) if a not in self.monitor.dead]
        if not live:
            return int(self.rng.integers(self.n_arms))
        bonus = np.sqrt(3.0 * np.log(self.pulls.sum()) / self.pulls)
        index = self.total / self.pulls + bonus
        return max(live, key=lambda a: index[a])

    def update(self, arm, reward):
        self.monitor.report(arm, reward)
        self.total[arm] += reward + self.rng.laplace(0.0, 1.0 / self.epsilon)
        self.pulls[arm] += 1
