"""UCB with arm-dependent doubling and forgetting (in the style of AdaP-UCB).

An episode plays one arm twice as often as its episode before; the mean of that
episode alone, with Laplace noise 1 / (n epsilon), replaces the arm's old estimate.
Every reward enters one noisy mean.  Claim: epsilon-DP, default epsilon = 1.0.
"""
import math

import numpy as np


class EpisodicPolicy:
    """Plays episodes; a subclass supplies the index of an arm and its summary."""

    def __init__(self, n_arms, horizon, rng):
        self.n_arms, self.horizon, self.rng = n_arms, horizon, rng
        self.episode = [0] * n_arms
        self.summary = [None] * n_arms
        self.arm, self.buffer, self.length = 0, [], 1
        self.clock = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.clock += 1
        self.buffer.append(float(reward))
        if len(self.buffer) == self.length:
            self.summary[arm] = self.summarise(self.buffer)
            self.episode[arm] += 1
            self.buffer = []
            self.arm = self.next_arm()
            self.length = 2 ** self.episode[self.arm]

    def next_arm(self):
        fresh = [a for a in range(self.n_arms) if self.episode[a] == 0]
        if fresh:
            return fresh[0]
        return max(range(self.n_arms), key=self.index)

    def summarise(self, values):
        raise NotImplementedError

    def index(self, arm):
        raise NotImplementedError


class AdaPUCB(EpisodicPolicy):
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        super().__init__(n_arms, horizon, rng if rng is not None else np.random.default_rng())
        self.epsilon = epsilon

    def summarise(self, values):
        n = len(values)
        return sum(values) / n + self.rng.laplace(0.0, 1.0 / (n * self.epsilon)), n

    def index(self, arm):
        mean, n = self.summary[arm]
        log_t = math.log(self.clock + 1)
        return mean + 0.5 * math.sqrt(log_t / n) + 0.3 * log_t / (n * self.epsilon)
