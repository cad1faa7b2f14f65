"""What a program keeps between runs is as it was once its bound was computed.

In a file of its own: all that the file of a program holds is put back.
"""

import collections
import functools

import numpy as np
import pytest

from verifiable_dp.evidence.symbolic.paths import Program, explore

ORDERS = {"left": 0, "order": None}
TOTALS = [0.0, 0.0]
ARRAY = np.zeros(2)
LAST = collections.deque([1.0], maxlen=2)


class Memory:
    """Keeps what it was given last, for all of its kind."""

    last = None
    every: list = []  # noqa: RUF012


MEMORY = Memory()


@functools.lru_cache
def cached(rng):
    return rng.permutation(2)


def kept_order(rewards, rng):
    if not ORDERS["left"]:
        ORDERS["left"], ORDERS["order"] = 50, rng.permutation(2)
    ORDERS["left"] -= 1
    return np.resize(ORDERS["order"], len(rewards))


def kept_sums(rewards, rng):
    TOTALS[0] += rewards[0, 0]
    LAST.append(rewards[0, 1])
    ARRAY[1] += 1.0
    return [0] * len(rewards)


def kept_by_classes(rewards, rng, own={}):  # noqa: B006
    Memory.last, MEMORY.one = rewards[0, 0], rewards[1, 0]
    Memory.every.append(rewards)
    own["rewards"] = rewards
    kept_by_classes.called = rewards
    return [int(arm) for arm in np.resize(cached(rng), len(rewards))]


def kept_anew(rewards, rng):
    global MADE
    MADE = rewards[0, 0]
    return [0] * len(rewards)


def state():
    own = kept_by_classes.__defaults__[0], vars(kept_by_classes)
    held = ORDERS, TOTALS, [*LAST], ARRAY.tolist(), Memory.last, Memory.every, vars(MEMORY), *own
    return repr((held, "MADE" in globals(), cached.cache_info().currsize))


@pytest.mark.parametrize("play", [kept_order, kept_sums, kept_by_classes, kept_anew])
def test_what_is_kept_is_put_back(play):
    cached.cache_clear()
    before = state()
    explore(Program(play, (6, 2), (0.0, 1.0)), 2, most=4)
    assert state() == before
    assert len(play(np.zeros((6, 2)), np.random.default_rng(0))) == 6
