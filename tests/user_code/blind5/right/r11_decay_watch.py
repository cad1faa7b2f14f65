"""Stay with an arm until an above-threshold test says that its deficit has become large."""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 2.0
LIMIT = 2.5


@dataclass
class Watch:
    rng: np.random.Generator
    deficit: float = 0.0
    threshold: float = field(init=False)

    def __post_init__(self):
        self.threshold = LIMIT + self.rng.laplace(0.0, 2.0 / EPSILON)

    def fires(self, reward):
        self.deficit += 0.5 - reward
        return self.deficit + self.rng.laplace(0.0, 4.0 / EPSILON) >= self.threshold


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm, watch, arms = 0, Watch(rng), []
    for t in range(horizon):
        arms.append(arm)
        if watch.fires(float(rewards[t, arm])):
            arm = (arm + 1) % n_arms
            watch = Watch(rng)
    return arms
