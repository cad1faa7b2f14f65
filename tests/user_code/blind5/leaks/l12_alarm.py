"""Blocks of play with a private alarm that moves on when a block pays too little."""
from dataclasses import dataclass

EPSILON = 1.0
BLOCK = 6


@dataclass(frozen=True)
class Alarm:
    level: float

    @classmethod
    def private(cls, level, epsilon, rng):
        return cls(level + rng.laplace(0.0, 2.0 / epsilon))

    def rings(self, value):
        return value < self.level


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    alarm = Alarm.private(BLOCK / 2, EPSILON, rng)
    arm, arms = 0, []
    while len(arms) < horizon:
        t = len(arms)
        block = rewards[t:t + BLOCK, arm]
        arms.extend([arm] * block.size)
        if alarm.rings(block.sum()):
            arm = (arm + 1) % n_arms
    return arms
