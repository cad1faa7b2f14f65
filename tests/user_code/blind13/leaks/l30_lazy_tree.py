"""UCB on lazily drawn tree noise.

Claim: epsilon = 1 (pure).  Each arm's reward stream is summed by the binary mechanism; a reward is in at most one node
per level, so nodes get Laplace(levels / epsilon) noise, drawn when the node is first read and kept from then on.
"""
import math

import numpy as np


class LazyNoise:
    def __init__(self, scale, rng):
        self.scale, self.rng, self.drawn = scale, rng, {}

    def __getitem__(self, node):
        if node not in self.drawn:
            self.drawn[node] = self.rng.laplace(0.0, self.scale)
        return self.drawn[node]


class Stream:
    """Rewards of one arm; a prefix is a set of dyadic nodes (level, index)."""

    def __init__(self, noise):
        self.noise = noise
        self.cumulative = [0.0]

    def append(self, value):
        self.cumulative.append(self.cumulative[-1] + value)

    def __len__(self):
        return len(self.cumulative) - 1

    def nodes(self):
        start, n = 0, len(self)
        for level in reversed(range(n.bit_length())):
            if n >> level & 1:
                yield level, start >> level
                start += 1 << level

    def private_sum(self):
        total = 0.0
        for level, index in self.nodes():
            low, high = index << level, (index + 1) << level
            total += self.cumulative[high] - self.cumulative[low] + self.noise[level, index]
        return total


class TreeUCB:
    warm = 4

    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        levels = horizon.bit_length()
        noise = LazyNoise(levels / epsilon, rng)
        self.streams = [Stream(noise) for _ in range(n_arms)]
        self.t = 0

    def _index(self, stream):
        n = len(stream)
        return stream.private_sum() / n + math.sqrt(2.0 * math.log(self.t + 1) / n)

    def select(self):
        if self.t < self.warm * len(self.streams):
            return self.t % len(self.streams)
        return max(range(len(self.streams)), key=lambda a: self._index(self.streams[a]))

    def update(self, arm, reward):
        self.streams[arm].append(reward)
        self.t += 1
