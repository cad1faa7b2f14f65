"""Noise of generators that the module keeps, epsilon 1 where the names below say so; leaks are called leak_.

What is known to readers of the file, or is the same draw twice, hides nothing.
"""

from __future__ import annotations

import copy
import functools
import random
import secrets

import numpy as np

SEED = secrets.randbits(128)
LEFT = np.random.default_rng(SEED)
RIGHT = np.random.default_rng(SEED)
KNOWN = np.random.default_rng(42)
SECRET = np.random.default_rng(secrets.randbits(128))
BITS = np.random.PCG64()
ONE, TWO = np.random.Generator(BITS), np.random.Generator(BITS)
BASE = np.random.default_rng()
COPY = copy.deepcopy(BASE)
AHEAD = copy.deepcopy(BASE)
AHEAD.random()
SMALL = secrets.randbits(32)
BEHIND, BEFORE = np.random.RandomState(SMALL), np.random.RandomState(SMALL)
BEFORE.random_sample()
FAR, NEAR = (np.random.Generator(np.random.SFC64(SEED)) for _ in range(2))
NEAR.random()
CHILDREN = [np.random.default_rng(seed) for seed in np.random.SeedSequence(5).spawn(2)]
PYTHON = random.Random(3)
draw = np.random.default_rng(13).laplace


class Held:
    rng = np.random.default_rng(7)
    pair = (np.random.RandomState(SMALL ^ 1), np.random.RandomState(SMALL ^ 1))


def _sums(rewards):
    horizon, n_arms = rewards.shape
    return np.array([rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)])


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    return np.r_[np.arange(horizon // 2) % n_arms, np.full(horizon - horizon // 2, arm)]


def _largest(rewards, noise):
    return _committed(rewards, int(np.argmax(_sums(rewards) + noise)))


def _apart(rewards, left, right):
    sums = _sums(rewards)
    return _committed(rewards, int(sums[0] + left.laplace(0, 1.0) < sums[1] + right.laplace(0, 1.0)))


def right(rewards, rng):
    return _largest(rewards, SECRET.laplace(0, 1, 2))


def right_one_stream(rewards, rng):
    return _apart(rewards, ONE, TWO)


def leak_twins(rewards, rng):
    return _apart(rewards, LEFT, RIGHT)


def leak_copy(rewards, rng):
    return _apart(rewards, BASE, COPY)


def leak_held(rewards, rng):
    return _apart(rewards, *Held.pair)


def leak_ahead(rewards, rng):
    """The noise is the same in the first run of each process."""
    BASE.random()
    return _apart(rewards, BASE, AHEAD)


def _shifted(rewards, behind, before):
    """The noise is the same in every run."""
    sums = _sums(rewards)
    behind()
    noisy = [sums[0] + np.log(behind()), sums[1] + np.log(before())]
    before()
    return _committed(rewards, int(noisy[0] < noisy[1]))


def leak_behind(rewards, rng):
    return _shifted(rewards, BEHIND.random_sample, BEFORE.random_sample)


def leak_unseen(rewards, rng):
    """Of a kind whose whole state changes with each draw, so that nothing tells of a common seed."""
    return _shifted(rewards, FAR.random, NEAR.random)


def leak_known(rewards, rng):
    return _largest(rewards, KNOWN.laplace(0, 1, 2))


def leak_class(rewards, rng):
    return _largest(rewards, Held.rng.laplace(0, 1, 2))


def leak_method(rewards, rng):
    return _largest(rewards, draw(0, 1, 2))


def leak_children(rewards, rng):
    return _apart(rewards, *CHILDREN)


def leak_python(rewards, rng):
    return _largest(rewards, [PYTHON.expovariate(1) - PYTHON.expovariate(1) for _ in range(2)])


def leak_default(rewards, rng, *, own=np.random.default_rng(9)):  # noqa: B008
    return _largest(rewards, own.laplace(0, 1, 2))


def _closed():
    own = np.random.default_rng(11)

    def play(rewards, rng):
        return _largest(rewards, own.laplace(0, 1, 2))

    return play


leak_closure = _closed()


@functools.cache
def _cached(*seed):
    return np.random.default_rng(*seed)


def leak_first_run(rewards, rng):
    """Made in the first run, and kept."""
    return _largest(rewards, _cached(17).laplace(0, 1, 2))


def right_first_run(rewards, rng):
    return _largest(rewards, _cached().laplace(0, 1, 2))
