"""On-device privacy for a layout test: the server only ever sees randomised bits.

Each client turns its satisfaction score in [0, 1] into a bit by unbiased
rounding, flips the bit with probability 1 / (1 + e^eps) and sends it.  The server runs
plain UCB1 on the debiased bits.  Claim: local epsilon-DP, epsilon = 1.0 by default, hence
epsilon-DP for the sequence of layouts.
"""
import math

import numpy as np


class Client:
    def __init__(self, epsilon, rng):
        self.keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        self.rng = rng

    def report(self, score):
        u, v = self.rng.random(2)
        bit = u < score
        return int(bit if v < self.keep else not bit)

    def debias(self, mean_bit):
        return (mean_bit - (1.0 - self.keep)) / (2.0 * self.keep - 1.0)


class UCBServer:
    width = 0.5

    def __init__(self, n_arms):
        self.ones = [0] * n_arms
        self.seen = [0] * n_arms

    def estimate(self, arm):
        return self.ones[arm] / self.seen[arm]

    def next_arm(self):
        for arm, n in enumerate(self.seen):
            if n == 0:
                return arm
        t = sum(self.seen)
        return max(range(len(self.seen)),
                   key=lambda a: self.estimate(a) + self.width * math.sqrt(math.log(t) / self.seen[a]))

    def take(self, arm, bit):
        self.ones[arm] += bit
        self.seen[arm] += 1


class PrivateLayoutTest(UCBServer):
    def __init__(self, n_arms=3, horizon=24, epsilon=1.0, rng=None):
        super().__init__(n_arms)
        self.client = Client(epsilon, rng if rng is not None else np.random.default_rng())

    def estimate(self, arm):
        return self.client.debias(super().estimate(arm))

    def select(self):
        return self.next_arm()

    def update(self, arm, reward):
        self.take(arm, self.client.report(reward))
