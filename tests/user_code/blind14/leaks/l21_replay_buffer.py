"""Local-DP duel bandit with a replay buffer.  K = 2, T = 32, epsilon = 1 (pure, local).

The last reward of each arm is in the buffer; the policy sees it only through randomised
response with the full epsilon and plays the arm whose bit is up.
"""
from dataclasses import dataclass
import math
import numpy as np


@dataclass(frozen=True)
class Transition:
    arm: int
    reward: float


class Channel:
    """epsilon-randomised response for values in [0, 1]."""

    def __init__(self, epsilon, rng):
        self.rng = rng
        self.p = 1.0 / (1.0 + math.exp(-epsilon))

    def __call__(self, tr):
        bit = self.rng.random() < tr.reward
        return bit if self.rng.random() < self.p else not bit


class ReplayDuel:
    def __init__(self, n_arms=2, horizon=32, epsilon=1.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.n_arms = n_arms
        self.channel = Channel(epsilon, self.rng)
        self.buffer = {}

    def act(self):
        for a in range(self.n_arms):
            if a not in self.buffer:
                return a
        bits = [self.channel(self.buffer[a]) for a in range(self.n_arms)]
        up = [a for a, b in enumerate(bits) if b] or list(range(self.n_arms))
        return int(up[self.rng.integers(len(up))])

    def observe(self, arm, reward):
        self.buffer[arm] = Transition(arm, float(reward))
