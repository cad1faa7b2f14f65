"""Explore five rounds an arm, commit to the best noisy total.

Rounds of exploration are fixed. The reward of a round is in the total of one arm, once, and moves it by at most 1;
Laplace noise of scale 1/epsilon on every total makes the totals epsilon-DP, and the rest follows from them.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    arms: int
    horizon: int
    epsilon: float
    per_arm: int = 5

    @property
    def scale(self):
        return 1.0 / self.epsilon


def play(rewards, rng, epsilon=1.0):
    s = Settings(arms=rewards.shape[1], horizon=rewards.shape[0], epsilon=epsilon)
    totals = np.zeros(s.arms)
    actions = np.empty(s.horizon, dtype=int)
    for t in range(s.per_arm * s.arms):
        arm = t % s.arms
        actions[t] = arm
        totals[arm] += rewards[t, arm]
    noisy = totals + rng.laplace(0.0, s.scale, size=s.arms)
    actions[s.per_arm * s.arms:] = int(np.argmax(noisy))
    return actions
