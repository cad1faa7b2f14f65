"""UCB on closed blocks; Laplace noise by the ratio of uniforms.

Right. The pair (u, v) uniform on the box [0, 1] x [-2/e, 2/e] and accepted if u^2 <= exp(-|v / u|) has v /
u with density proportional to exp(-|x|). A block of pulls of an arm is closed with one draw of scale 1 /
epsilon; totals of closed blocks are sums of stored noisy numbers, and every reward is in one block.
"""

import math

import numpy as np


def laplace(rng):
    edge = 2 / math.e
    while True:
        u = 1 - rng.random()
        x = rng.uniform(-edge, edge) / u
        if 2 * math.log(u) <= -abs(x):
            return x


class BlockUCB:
    def __init__(self, n_arms, horizon, rng, epsilon=1.5, block=3):
        self.rng, self.epsilon, self.block = rng, epsilon, block
        self.bonus = math.sqrt(2 * math.log(horizon + 1))
        self.closed = [[] for _ in range(n_arms)]
        self.pending, self.filled, self.current = 0.0, 0, None

    def _index(self, arm):
        n = len(self.closed[arm]) * self.block
        if n == 0:
            return math.inf
        return sum(self.closed[arm]) / n + self.bonus / math.sqrt(n)

    def select_arm(self):
        if self.current is None:
            self.current = int(np.argmax([self._index(a) for a in range(len(self.closed))]))
        return self.current

    def update(self, arm, reward):
        self.pending += reward
        self.filled += 1
        if self.filled == self.block:
            self.closed[arm].append(self.pending + laplace(self.rng) / self.epsilon)
            self.pending, self.filled, self.current = 0.0, 0, None
