"""Sliding-window greedy learner over rewards perturbed on arrival."""
from collections import deque
import numpy as np


class LocalWindow:
    WINDOW = 20

    def __init__(self, n_arms, rng, epsilon=2.0):
        self.n_arms = n_arms
        self.rng = rng
        self.noise = lambda: rng.exponential(1 / epsilon) * (1 if rng.random() < 0.5 else -1)
        self.seen = deque(maxlen=self.WINDOW)

    def select(self):
        groups = {a: [] for a in range(self.n_arms)}
        for a, v in self.seen:
            groups[a].append(v)
        missing = [a for a, g in groups.items() if len(g) < 2]
        if missing:
            return missing[0]
        return max(groups, key=lambda a: np.mean(groups[a]))

    def update(self, arm, reward):
        self.seen.append((arm, float(np.clip(reward + self.noise(), -1, 2))))
