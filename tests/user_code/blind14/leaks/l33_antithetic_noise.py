"""Block-greedy bandit with antithetic Laplace noise, epsilon = 1.

Blocks of ten rounds: three probes for each of two arms, then four rounds on the
arm with the larger noisy block sum.  Every block has Laplace noise of scale
1 / epsilon; blocks come in pairs with mirrored noise so that errors cancel over
time.
"""
import numpy as np


def antithetic(rng, shape, scale):
    """Endless vectors z, -z, z', -z', ... each with Laplace entries."""
    while True:
        z = rng.laplace(0.0, scale, shape)
        yield z
        yield -z


class BlockBandit:
    probes, tail = 3, 4

    def __init__(self, n_arms, horizon, rng):
        self.k, self.rng = n_arms, rng
        self.sums = np.zeros(n_arms)
        self.t = 0

    @property
    def slot(self):
        return self.t % (self.k * self.probes + self.tail)

    def noise(self):
        raise NotImplementedError

    def select(self):
        return self.slot % self.k if self.slot < self.k * self.probes else self.best

    def update(self, arm, reward):
        if self.slot < self.k * self.probes:
            self.sums[arm] += reward
        self.t += 1
        if self.slot == self.k * self.probes:
            self.best = int(np.argmax(self.sums + self.noise()))
            self.sums = np.zeros(self.k)


class AntitheticBandit(BlockBandit):
    def __init__(self, n_arms=2, horizon=40, epsilon=1.0, rng=None):
        super().__init__(n_arms, horizon, rng)
        self._noise = antithetic(rng, n_arms, 1.0 / epsilon)

    def noise(self):
        return next(self._noise)
