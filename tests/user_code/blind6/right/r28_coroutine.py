"""A bandit written as a coroutine."""
import numpy as np


def strategy(k, horizon, epsilon, rng):
    m = max(1, horizon // (4 * k))
    while True:
        sums = np.zeros(k)
        for arm in range(k):
            for _ in range(m):
                sums[arm] += yield arm
        sums += rng.laplace(scale=1 / epsilon, size=k)
        best = int(np.argmax(sums))
        for _ in range(m * k):
            yield best


class Coroutine:
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        rng = rng if rng is not None else np.random.default_rng()
        self._gen = strategy(n_arms, horizon, epsilon, rng)
        self._next = next(self._gen)

    def select(self):
        return self._next

    def update(self, arm, reward):
        self._next = self._gen.send(reward)
