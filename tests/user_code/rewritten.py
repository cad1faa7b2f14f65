"""Code for which no upper bound speaks, and the same written so that one can: twins, by construct."""

from contextvars import ContextVar

import numpy as np


def _twice(x):
    return 2 * x


def _thrice(x):
    return 3 * x


_TABLE = (_twice, _thrice)
_CURRENT = ContextVar("current", default=_twice)


class One:
    def of(self, x):
        return x


class Two:
    def of(self, x):
        return 2 * x


class Count:
    def __add__(self, other):
        return other

    def plus(self, other):
        return other


class Kept:
    def __init__(self):
        self.use = _twice


def _ends(rewards, rng, total):
    """Half the rounds in turn, then the arm that a noisy total chooses."""
    actions = np.arange(len(rewards)) % 2
    actions[len(rewards) // 2 :] = int(total + rng.laplace(0, 9) > 1)
    return actions


def _first(rewards):
    return rewards[:4, 0].sum()


def at_a_place(rewards, rng):
    return _ends(rewards, rng, _TABLE[rng.integers(2)](_first(rewards)))


def one_of_two(rewards, rng):
    return _ends(rewards, rng, (_twice if rng.random() < 0.5 else _thrice)(_first(rewards)))


def function(rewards, rng):
    use = _TABLE[rng.integers(2)]
    return _ends(rewards, rng, use(_first(rewards)))


def _chosen(rng):
    return _TABLE[rng.integers(2)]


def returned(rewards, rng):
    return _ends(rewards, rng, _chosen(rng)(_first(rewards)))


def put(rewards, rng):
    kept = Kept()
    if rng.random() < 0.5:
        kept.use = _thrice
    return _ends(rewards, rng, kept.use(_first(rewards)))


def method(rewards, rng):
    return _ends(rewards, rng, (One(), Two())[rng.integers(2)].of(_first(rewards)))


def branches(rewards, rng):
    first = _first(rewards)
    if rng.random() < 0.5:
        return _ends(rewards, rng, _twice(first))
    return _ends(rewards, rng, _thrice(first))


def reflection(rewards, rng):
    return _ends(rewards, rng, getattr(rewards[:4, 0], "s" + "um")())


def unknown_call(rewards, rng):
    return _ends(rewards, rng, _CURRENT.get()(_first(rewards)))


def by_name(rewards, rng):
    return _ends(rewards, rng, _first(rewards))


def given(rewards, rng):
    return _ends(rewards, rng, np.roll(rewards[:4, 0], rng.integers(1000) % 4)[0])


def taken(rewards, rng):
    return _ends(rewards, rng, {0: _first(rewards), 1: 500 * rewards[0, 0]}[rng.integers(2)])


def taken_by_what_was_taken(rewards, rng):
    """Where the first pick is disclosed, what it gives is a number that the second goes by."""
    first = {0: _first(rewards), 1: 500 * rewards[0, 0]}[rng.integers(1000) % 2]
    return _ends(rewards, rng, np.interp(first, [0.0, 1.0], rewards[:2, 0]))


def branch_by_entry(rewards, rng):
    total = _first(rewards) if rng.random() < 0.5 else 2 * rewards[0, 0]
    return _ends(rewards, rng, total)


def sliced(rewards, rng):
    return _ends(rewards, rng, rewards[: rng.integers(1000) % 4, 0].sum())


def repeated(rewards, rng):
    return _ends(rewards, rng, sum([rewards[0, 0]] * (rng.integers(1000) % 4)))


def turns(rewards, rng):
    total = 0.0
    for turn in range(rng.integers(1000) % 251):
        total += rewards[turn % 4, 0]
    return _ends(rewards, rng, total)


def leaves_out(rewards, rng):
    many, total = rng.integers(4), 0.0
    for turn in range(4):
        total += rewards[turn, 0] if turn < many else 0.0
    return _ends(rewards, rng, total)


def _down(left):
    if left % 51 == 50:
        return 0
    return 1 + _down(left + 1)


def recursion(rewards, rng):
    return _ends(rewards, rng, _first(rewards) + 0.0 * _down(rng.integers(1000)))


def by_python(rewards, rng):
    return _ends(rewards, rng, Count() + _first(rewards))


def named(rewards, rng):
    return _ends(rewards, rng, Count().plus(_first(rewards)))


def statement(rewards, rng):
    try:
        total = _first(rewards)
    except* ValueError:
        total = 0.0
    return _ends(rewards, rng, total)


def sets(rewards, rng):
    np.kept = _first(rewards)
    return _ends(rewards, rng, np.kept)


def local_name(rewards, rng):
    kept = _first(rewards)
    return _ends(rewards, rng, kept)


def survives(rewards, rng):
    total = _first(rewards)
    for _ in range(10):
        if rng.random() < 0.5:
            total = 0.0
    return _ends(rewards, rng, total)


def anew(rewards, rng):
    total = 0.0
    for _ in range(10):
        total = _first(rewards) if rng.random() < 0.5 else 0.0
    return _ends(rewards, rng, total)


def reads(rewards, rng):
    return _ends(rewards, rng, _first(rewards) if __name__ == "production" else 0.0)


TWINS = {  # construct: the code outside, and its twin
    "AT_A_PLACE": (at_a_place, branches),
    "ONE_OF_TWO": (one_of_two, branches),
    "FUNCTION": (function, branches),
    "RETURNED": (returned, branches),
    "PUT": (put, branches),
    "METHOD": (method, branches),
    "REFLECTION": (reflection, by_name),
    "UNKNOWN_CALL": (unknown_call, by_name),
    "READS": (reads, by_name),
    "GIVEN": (given, branch_by_entry),
    "TAKEN": (taken, branch_by_entry),
    "SLICED": (sliced, leaves_out),
    "SURVIVES": (survives, anew),
    "REPEATED": (repeated, leaves_out),
    "TURNS": (turns, leaves_out),
    "RECURSION": (recursion, leaves_out),
    "BY_PYTHON": (by_python, named),
    "STATEMENT": (statement, by_name),
    "SETS": (sets, local_name),
}
