"""Programs that ignore all rewards: epsilon 0, at any claim. What they keep between calls is public."""

import functools
import itertools
import time

import numpy as np


def round_robin(rewards, rng):
    """Epsilon 0: a fixed schedule."""
    horizon, n_arms = rewards.shape
    return np.arange(horizon) % n_arms


def first_arm(rewards, rng):
    """Epsilon 0: always arm 0, as a list."""
    return [0] * len(rewards)


def coins(rewards, n_runs, rng):
    """Epsilon 0: fair coins that are independent of the rewards."""
    horizon, n_arms = rewards.shape
    return rng.integers(n_arms, size=(n_runs, horizon))


def one_schedule_for_all(rewards, n_runs, rng):
    """Epsilon 0: one random schedule a call, the same for all its runs; rewards are not read."""
    horizon, n_arms = rewards.shape
    return np.tile(rng.integers(n_arms, size=horizon), (n_runs, 1))


@functools.cache
def schedule(horizon, n_arms):
    """A random schedule, drawn once a process for each shape."""
    return tuple(int(arm) for arm in np.random.default_rng().integers(n_arms, size=horizon))


def cached_schedule(rewards, rng):
    """Epsilon 0: a random schedule that is drawn once a process and kept; it depends on the shape only."""
    return list(schedule(*rewards.shape))


CALLS = itertools.count()


def counts_its_calls(rewards, rng):
    """Epsilon 0: the number of the call decides the first arm."""
    horizon, n_arms = rewards.shape
    return (np.arange(horizon) + next(CALLS)) % n_arms


def alternates_by_calls(rewards, n_runs, rng):
    """Epsilon 0: every other call plays arm 0 only, the calls between arm 1 only."""
    return np.full((n_runs, len(rewards)), next(CALLS) % 2)


def by_the_clock(rewards, rng):
    """Epsilon 0: the arm changes with the second of the clock."""
    horizon, n_arms = rewards.shape
    return np.full(horizon, int(time.time()) % n_arms, dtype=np.uint8)


class Cycles:
    """Epsilon 0: `update` throws rewards away."""

    def __init__(self, n_arms, rng):
        self.arms = itertools.cycle(rng.permutation(n_arms))

    def select(self):
        return next(self.arms)

    def update(self, arm, reward):
        pass


def constant(data, size, rng):
    """Epsilon 0: the same number, whatever the data."""
    return np.full(size, 0.5)


def noise_alone(data, size, rng):
    """Epsilon 0: noise to which the data are never added."""
    return rng.laplace(0, 1, (size, 2))
