# ruff: noqa: NPY002
"""Noise from NumPy's own generators: right at EPSILON = 1 if no seed is known; leaks are called leak_."""

from __future__ import annotations

import secrets
from secrets import randbits

import numpy as np
from numpy.random import default_rng, laplace

EPSILON = 1.0
_RNG = np.random.default_rng()
_STATE = np.random.RandomState()


def _explored(rewards):
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = arm
    return arms


def process_wide(rewards, rng):
    return _committed(
        rewards, np.argmax(_explored(rewards) + np.random.laplace(0, 1 / EPSILON, rewards.shape[1]))
    )


def imported_by_name(rewards, rng):
    return _committed(rewards, np.argmax([s + laplace(scale=1 / EPSILON) for s in _explored(rewards)]))


def old_names(rewards, rng):
    """Gumbel noise from `rand`."""
    noise = -np.log(-np.log(np.random.rand(rewards.shape[1])))
    return _committed(rewards, np.argmax(EPSILON * _explored(rewards) + noise))


def made_without_a_seed(rewards, rng):
    own = np.random.default_rng()
    return _committed(rewards, np.argmax(_explored(rewards) + own.laplace(0, 1 / EPSILON, rewards.shape[1])))


def seeded_by_a_draw(rewards, rng):
    own = default_rng(rng.integers(2**63))
    return _committed(rewards, np.argmax(_explored(rewards) + own.laplace(0, 1 / EPSILON, rewards.shape[1])))


def of_the_module(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + _RNG.laplace(0, 1 / EPSILON, rewards.shape[1])))


def of_the_module_old(rewards, rng):
    sums = _explored(rewards)
    return _committed(rewards, np.argmax(sums + _STATE.exponential(1 / EPSILON, len(sums))))


def leak_half_the_scale(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + np.random.laplace(0, 0.5, rewards.shape[1])))


def leak_known_seed(rewards, rng):
    own = np.random.default_rng(7)
    return _committed(rewards, np.argmax(_explored(rewards) + own.laplace(0, 1 / EPSILON, rewards.shape[1])))


def leak_process_wide_seed(rewards, rng):
    np.random.seed(7)
    return _committed(
        rewards, np.argmax(_explored(rewards) + np.random.laplace(0, 1 / EPSILON, rewards.shape[1]))
    )


def leak_one_seed_for_two(rewards, rng):
    """Two generators with one seed draw the same noise, and the difference of two sums is exact."""
    seed, sums = rng.integers(2**63), _explored(rewards)
    noisy = [s + default_rng(seed).laplace(0, 1 / EPSILON) for s in sums]
    return _committed(rewards, np.argmax(noisy))


def leak_few_seeds(rewards, rng):
    own = default_rng(rng.integers(2))
    return _committed(rewards, np.argmax(_explored(rewards) + own.laplace(0, 1 / EPSILON, rewards.shape[1])))


def _with(own, rewards):
    return _committed(rewards, np.argmax(_explored(rewards) + own.laplace(0, 1 / EPSILON, rewards.shape[1])))


def seeded_by_a_secret(rewards, rng):
    return _with(np.random.default_rng(secrets.randbits(128)), rewards)


def seeded_by_a_secret_by_name(rewards, rng):
    return _with(default_rng(randbits(64)), rewards)


def seeded_by_several(rewards, rng):
    return _with(np.random.default_rng([secrets.randbits(64), int(rng.integers(2**32)), 7]), rewards)


def seeded_by_a_long_number(rewards, rng):
    return _with(np.random.default_rng(rng.integers(2**63)), rewards)


def leak_few_drawn_seeds(rewards, rng):
    return _with(np.random.RandomState(rng.integers(2**32)), rewards)


def leak_few_seeds_of_two(rewards, rng):
    return _with(np.random.default_rng([int(rng.integers(2**31)), int(rng.integers(2**30))]), rewards)


def leak_few_secret_bits(rewards, rng):
    return _with(np.random.default_rng(secrets.randbits(16)), rewards)


def leak_no_secret_among_several(rewards, rng):
    return _with(np.random.default_rng([3, 7]), rewards)


def leak_one_secret_twice(rewards, rng):
    seed = secrets.randbits(128)
    first = np.argmax(_explored(rewards) + np.random.default_rng(seed).laplace(0, 1, rewards.shape[1]))
    again = np.random.default_rng(seed).laplace(0, 1, rewards.shape[1])
    return _committed(rewards, np.argmax(_explored(rewards) - again) if first else 0)


def leak_a_secret_that_is_told(rewards, rng):
    seed = secrets.randbits(128)
    arms = _with(np.random.default_rng([seed, 1]), rewards)
    arms[0] = seed % rewards.shape[1]
    return arms


def leak_sums_as_a_seed(rewards, rng):
    return _with(np.random.default_rng([secrets.randbits(64), int(rewards[0, 0])]), rewards)
