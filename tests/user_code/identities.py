"""Programs that ask of a number what the number itself cannot answer: which object it is, or of what type.

Each commits to the noisy winner, but where a streak of raw rewards is recognised, to arm 1: a leak that
plain runs hardly ever show. `RIGHT` ask the same questions of public things.
"""

import contextvars
import dataclasses
import enum
import functools
import operator
from operator import is_ as same

import numpy as np

PATTERN = (1, 0, 1, 1, 0, 0, 1, 0, 1, 1)


def _committed(rewards, rng, streak):
    horizon, n_arms = rewards.shape
    half = horizon // 2
    sums = np.array([rewards[a:half:n_arms, a].sum() for a in range(n_arms)])
    winner = int(np.argmax(sums + rng.laplace(0, 1.0, n_arms)))
    return np.r_[np.arange(half) % n_arms, np.full(horizon - half, (winner, 1)[streak])]


def _leak(is_hit):
    """A program with hits as this function has them."""

    def play(rewards, rng):
        hits = [bool(is_hit(bool(rewards[t, t % 2] > 0.5))) for t in range(len(PATTERN))]
        return _committed(rewards, rng, hits == [bool(p) for p in PATTERN])

    return play


def _by_case(hit):
    match hit:
        case True:
            return True
        case _:
            return False


def _by_class(hit):
    match hit:
        case bool(real=1):
            return True
        case _:
            return False


def _by_equality_of_types(value):
    return type(value) == int  # noqa: E721


def _by_text(hit):
    return same(hit, True)


@dataclasses.dataclass
class Judge:
    """Holds a function."""

    ask: object = functools.partial(operator.is_, True)


# Nothing leads to what it holds.
_ASK = contextvars.ContextVar("_ASK", default=lambda hit: hit is True)


class Lookup:
    """Answers through a table."""

    table = {"same": operator.is_}  # noqa: RUF012

    def __call__(self, hit):
        return self.table["same"](hit, True)


LEAKS = {
    "is_true": _leak(lambda hit: hit is True),
    "is_not_false": _leak(lambda hit: hit is not False),
    "chain": _leak(lambda hit: None is not hit is True),
    "case": _leak(_by_case),
    "case_of_a_class": _leak(_by_class),
    "imported_under_another_name": _leak(_by_text),
    "operator": _leak(lambda hit: operator.is_(hit, True)),
    "partial": _leak(lambda hit: functools.partial(operator.is_, True)(hit)),
    "partial_of_before": _leak(lambda hit: Judge().ask(hit)),
    "mapped": _leak(lambda hit: next(map(operator.is_, [hit], [True]))),
    "reduced": _leak(lambda hit: functools.reduce(operator.is_, [hit, True])),
    "held_in_a_table": _leak(Lookup()),
    "key_of_a_sort": _leak(lambda hit: sorted([0, 1], key=functools.partial(operator.is_, hit)) == [0, 1]),
    "held_where_nothing_leads": _leak(lambda hit: _ASK.get()(hit)),
    "id": _leak(lambda hit: id(hit) == id(True)),
    "ids": _leak(lambda hit: next(map(id, (hit,))) == id(True)),
    "evaluated": _leak(lambda hit: eval("hit is True")),
    "alias_of_a_builtin": _leak(lambda hit, f=id: f(hit) == f(True)),
}


def _of_types(is_int):
    """`max(0, r)` is an int where r is 0 or less, and else r itself."""

    def play(rewards, rng):
        hits = [not is_int(max(0, rewards[t, t % 2] - 0.5)) for t in range(len(PATTERN))]
        return _committed(rewards, rng, hits == [bool(p) for p in PATTERN])

    return play


LEAKS |= {
    "type": _of_types(lambda value: type(value) is int),
    "equal_types": _of_types(_by_equality_of_types),
    "isinstance": _of_types(lambda value: isinstance(value, int)),
    "class": _of_types(lambda value: value.__class__ is int),
    "hasattr": _of_types(lambda value: not hasattr(value, "nbytes")),
    "getattr": _of_types(lambda value: getattr(value, "nbytes", 0) == 0),
    "getattr_class": _of_types(lambda value: getattr(value, "__class__") is int),  # noqa: B009
    "attrgetter": _of_types(lambda value: operator.attrgetter("__class__")(value) is int),
    "dispatch": _of_types(lambda value: _is_whole(value)),
}


@functools.singledispatch
def _is_whole(value):
    return False


@_is_whole.register
def _(value: int):
    return True


class Mode(enum.Enum):
    """Ways to begin."""

    COLD, WARM = "cold", "warm"


_NOTHING = object()


def _by_generator(rewards, rng):
    """Its class, which is another one where something stands in for it."""
    return _committed(rewards, rng, rng.__class__ is np.random.Generator)


LEAKS |= {"class_of_the_generator": _by_generator}


def by_mode(rewards, rng, mode=Mode.WARM, last=_NOTHING):
    """Compares public things by identity, and a number with what no number is."""
    first = rewards[0, 0]
    public = mode is Mode.WARM and last is _NOTHING and type(len(rewards)) is int
    no_number = first is not None and first is not mode and not isinstance(first, str | list)
    assert all((public, no_number, isinstance(rewards, np.ndarray), isinstance(first, float)))
    return _committed(rewards, rng, mode is Mode.COLD)


class Arms:
    """Keeps functions in tables, and numbers in containers."""

    make = {"sum": np.sum, "best": max, "to": float}  # noqa: RUF012

    def __init__(self):
        self.kept = {}

    def play(self, rewards, rng):
        """Of each arm the sum of its rewards with noise."""
        horizon, n_arms = rewards.shape
        half = horizon // 2
        for a in range(n_arms):
            self.kept.setdefault(a, []).append(self.make["to"](self.make["sum"](rewards[a:half:n_arms, a])))
        noisy = [functools.reduce(operator.add, self.kept[a]) + rng.laplace(0, 1.0) for a in range(n_arms)]
        winner = self.make["best"](range(n_arms), key=noisy.__getitem__)
        return np.r_[np.arange(half) % n_arms, np.full(horizon - half, winner)]


def by_tables(rewards, rng):
    """See `Arms`."""
    return Arms().play(rewards, rng)


RIGHT = [by_mode, by_tables]
