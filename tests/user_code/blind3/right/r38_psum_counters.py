"""UCB over streaming counters (Chan, Shi, Song).

The n-th reward of an arm enters the partial sum of the lowest bit of n, which swallows the lower ones. A reward is in at most
six partial sums (T = 32), each noised once with scale 6/epsilon.
"""

import math


class Counter:
    def __init__(self, horizon, epsilon, rng):
        self.levels = horizon.bit_length()
        self.scale, self.rng = self.levels / epsilon, rng
        self.true, self.noisy, self.n = [0.0] * self.levels, [0.0] * self.levels, 0

    def feed(self, x):
        self.n += 1
        i = (self.n & -self.n).bit_length() - 1
        self.true[i] = x + sum(self.true[:i])
        self.true[:i] = [0.0] * i
        self.noisy[:i] = [0.0] * i
        self.noisy[i] = self.true[i] + self.rng.laplace(0, self.scale)

    def value(self):
        return sum(self.noisy[i] for i in range(self.levels) if self.n >> i & 1)


class PrivateUcb:
    def __init__(self, n_arms, horizon, rng, epsilon=2.0):
        self.counters = [Counter(horizon, epsilon, rng) for _ in range(n_arms)]
        self.t = 0

    def select(self):
        for arm, c in enumerate(self.counters):
            if c.n == 0:
                return arm
        return max(
            range(len(self.counters)),
            key=lambda a: self.counters[a].value() / self.counters[a].n
            + math.sqrt(2 * math.log(self.t) / self.counters[a].n),
        )

    def update(self, arm, reward):
        self.counters[arm].feed(reward)
        self.t += 1
