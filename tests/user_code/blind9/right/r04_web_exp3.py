"""EXP3 on clicks that pass through randomised response.

Proof: each reward is used once, as a Bernoulli(reward) bit sent with randomised response of
probability e^EPSILON/(1 + e^EPSILON). A bit is EPSILON-DP, a mixture over the rounding too.
All weights are post-processing.
"""
import math
import numpy as np

EPSILON = 1.5


class WebExp3:
    def __init__(self, n_arms, rng):
        self.k, self.rng = n_arms, rng
        self.w = np.ones(n_arms)
        self.keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))

    def probs(self):
        return 0.8 * self.w / self.w.sum() + 0.2 / self.k

    def select(self):
        return int(self.rng.choice(self.k, p=self.probs()))

    def update(self, arm, reward):
        bit = int(self.rng.random() < reward)
        if self.rng.random() >= self.keep:
            bit = 1 - bit
        self.w[arm] *= math.exp(0.1 * bit / self.probs()[arm])
