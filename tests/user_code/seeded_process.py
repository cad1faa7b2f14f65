# ruff: noqa: NPY002
"""Leaks whose file seeds the generators of the process, of which each function uses one."""

import random

import numpy as np

np.random.seed(0)
random.seed(1)


def _largest(rewards, noise):
    horizon, n_arms = rewards.shape
    sums = np.array([rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)])
    return np.r_[np.arange(horizon // 2) % n_arms, np.full(horizon - horizon // 2, np.argmax(sums + noise))]


def leak_numpy(rewards, rng):
    return _largest(rewards, np.random.laplace(0, 1, 2))


def leak_python(rewards, rng):
    return _largest(rewards, [random.expovariate(1) - random.expovariate(1) for _ in range(2)])
