"""Bandits that are told of the last round: which of them ask whether there was one."""

# ruff: noqa: NPY002 - as users write it

import functools

import numpy as np


class Core:
    def __init__(self, n_arms, rng):
        self.counts, self.sums, self.rng = [0] * n_arms, [0.0] * n_arms, rng

    def _next(self):
        least = self.counts.index(min(self.counts))
        return least if self.counts[least] == 0 else int(np.argmax(self.sums + self.rng.laplace(0, 1, 2)))

    def _learn(self, reward, arm):
        self.counts[arm] += 1
        self.sums[arm] += reward


class Asks(Core):
    def step(self, last_reward, last_arm):
        if last_reward is not None:
            self._learn(last_reward, last_arm)
        return self._next()


class Above(Asks):
    """The method of the class above it asks."""

    def step(self, last_reward, last_arm):
        return super().step(last_reward, last_arm)


class Mixin:
    def step(self, last_reward, last_arm):
        if last_arm is not None:
            self._learn(last_reward, last_arm)
        return self._next()


class Mixed(Mixin, Core):
    pass


class Helper(Core):
    """Another method asks, on one line."""

    def step(self, last_reward, last_arm):
        self._see(last_reward, last_arm)
        return self._next()

    def _see(self, r, a):
        self._learn(r, a) if r is not None else None


def _wrapped(method):
    @functools.wraps(method)
    def step(self, last_reward, last_arm):
        return self._next() if last_reward is None else method(self, last_reward, last_arm)

    return step


class Decorated(Core):
    @_wrapped
    def step(self, last_reward, last_arm):
        self._learn(last_reward, last_arm)
        return self._next()


class RewardOnly(Core):
    """Takes a number for the arm in any case."""

    def step(self, last_reward, last_arm):
        index = int(last_arm)
        if last_reward is not None:
            self._learn(last_reward, index)
        return self._next()


class Default(Core):
    def step(self, last_reward=-1.0, last_arm=0):
        if last_reward >= 0:
            self._learn(last_reward, last_arm)
        return self._next()


class Takes(Core):
    """Asks nothing: the first call counts."""

    def step(self, last_reward, last_arm):
        self._learn(last_reward, last_arm)
        return self._next()


class Optional(Core):
    """Says that None may come, and fails on it."""

    def step(self, last_reward: float | None, last_arm: int | None):
        self._learn(last_reward, last_arm)
        return self._next()


class Silent(Core):
    """Goes the same way with None, which is no sign that it asks."""

    def step(self, last_reward, last_arm):
        self.last = (last_reward, last_arm)
        return int(self.rng.integers(2))


NONE = {"last_reward": None, "last_arm": None}
PLAIN = {"last_reward": 0.0, "last_arm": 0}
TOLD = {
    **dict.fromkeys((Asks, Above, Mixed, Helper, Decorated), NONE),
    RewardOnly: {"last_reward": None, "last_arm": 0},
    Default: {"last_reward": -1.0, "last_arm": 0},
    **dict.fromkeys((Takes, Optional, Silent), PLAIN),
}


# Code that pays itself with a function whose only whole number is no arm.


def sample_reward(mean, test_type):
    return float(np.random.random() < mean) if test_type == 0 else np.random.random()


def _played(means, T):
    sums, arms = np.zeros(len(means)), np.zeros(T, dtype=int)
    for t in range(T):
        arm = (
            t % len(means) if t < 2 * len(means) else int(np.argmax(sums + np.random.random(len(means)) / 99))
        )
        sums[arm] += sample_reward(means[arm], 0)
        arms[t] = arm
    return arms


def greedy(means, T):
    """The means are handed to it; a leak."""
    return _played(means, T)


def listed(means, T):
    return _played([float(mean) for mean in means], T)


def own_means(n_arms, T):
    """Its own means do not tell which arm is pulled."""
    return _played(np.linspace(0.2, 0.8, n_arms), T)


def pay(number):
    return float(np.random.random() < 0.5 + number / 10)


def right_number(n_arms, T):
    """The only whole number is the arm."""
    return [pay(t % n_arms) for t in range(T)]
