"""Laws that are read off the source of samplers are those of what they draw."""

import ast
import inspect
import math
import textwrap
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tests.user_code import coins, inverses
from verifiable_dp.evidence.symbolic import samplers
from verifiable_dp.evidence.symbolic.paths import Program, explore
from verifiable_dp.evidence.symbolic.samplers import _GIVEN, Law, _law, _Reader


def law(function, *args):
    return _law(_Reader(function.__globals__).call(function, [_GIVEN, *args]))


@pytest.mark.parametrize(
    ("sampler", "args"),
    [
        (coins._heads, (0.3,)),
        (coins._until_tails, (0.6,)),
        (coins._with_a_sign, (0.5, True)),
        (coins._with_a_sign, (0.5, False)),
        (coins._exact, (1,)),
        (coins._exact, (3,)),
        (coins._early, ()),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_chances_are_those_of_what_is_drawn(sampler, args):
    """Each of the first frequencies lies within 6 standard deviations of its chance."""
    read, rng, many = law(sampler, *args), np.random.default_rng(7), 4000
    counts = Counter(sampler(rng, *args) for _ in range(many))
    assert math.isclose(math.fsum(read.heights), 1.0, abs_tol=1e-9)
    for value, chance in zip(read.ends, read.heights, strict=True):
        assert abs(counts[value] - many * chance) <= 6 * math.sqrt(many * chance * (1 - chance)) + 1e-6


def test_a_density_is_that_of_what_is_drawn():
    read, rng, many = law(coins._staircase, 1.0, 1.0), np.random.default_rng(7), 4000
    drawn = np.array([coins._staircase(rng, 1.0, 1.0) for _ in range(many)])
    ends = np.array(read.ends)
    counts, chances = np.histogram(drawn, ends)[0], np.array(read.heights) * np.diff(ends)
    assert (np.abs(counts - many * chances) <= 6 * np.sqrt(many * chances) + 1e-6).all()
    assert read.price(1.0) == pytest.approx(1.0, abs=1e-9)
    assert read.price(0.1) == pytest.approx(1.0, abs=1e-9)  # a step may lie between
    assert read.price(2.0) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "price"), [(1, math.log(2) + math.log(2)), (-1, 2 * math.log(2)), (2, 3 * math.log(2))]
)
def test_the_dearest_place_of_a_law_counts(shift, price):
    """With a sign for 0, too, 0 has twice its chance."""
    assert law(coins._with_a_sign, 0.5, False).price(shift) == pytest.approx(price)


def test_what_lies_between_counts():
    """Each step costs 1, but +1 and -1 hardly ever come: a shift of 2 may be one of 1 from 0."""
    weights = [math.exp(-abs(k) - 3 * (abs(k) == 1)) for k in range(-60, 61)]
    holes = Law(tuple(range(-60, 61)), tuple(w / math.fsum(weights) for w in weights), True)
    assert holes.price(2) == pytest.approx(4)
    assert holes.price(-2) == pytest.approx(4)


def _until(rng, more):
    n = 0
    while rng.random() < more:
        n += 1
    return n + _CALLS.append(n)


def _with_memory(rng, more):
    _CALLS[0] = 0 if rng.random() < more else 1
    return _CALLS[0]


def _looked_up(rng, more):
    return _Unread() if rng.random() < more else 0


def _twice(rng, more):
    u = rng.random()
    v = u * u
    return 1 if v < more else 0


class _Unread:
    pass


_CALLS: list[int] = [0]


@pytest.mark.parametrize("sampler", [_until, _with_memory, _looked_up, _twice], ids=lambda f: f.__name__)
def test_what_is_not_understood_has_no_law(sampler):
    with pytest.raises(samplers._Unknown):
        law(sampler, 0.5)


def test_the_same_draw_compared_again_is_known():
    def sampler(rng):
        u = rng.random()
        if u < 0.5:
            return 0 if u < 0.2 else 1
        return 2 if u < 0.75 else 3

    (function,) = ast.parse(textwrap.dedent(inspect.getsource(sampler))).body
    found = dict(_Reader({}).law(function.body, {"rng": _GIVEN}))
    assert found == pytest.approx({0: 0.2, 1: 0.3, 2: 0.25, 3: 0.25})


def _explored(play):
    return explore(Program(play, (40, 2), (0.0, 1.0)), 2, most=10)


@pytest.mark.parametrize("play", inverses.RIGHT.values(), ids=inverses.RIGHT)
def test_logarithms_of_uniform_numbers_cost_what_they_are_worth(play):
    got = _explored(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


@pytest.mark.parametrize("play", inverses.WRONG.values(), ids=inverses.WRONG)
def test_logarithms_that_go_wrong_have_no_bound_within_the_claim(play):
    assert _explored(play).epsilon() > 1.3


def test_fractions_are_numbers():
    found = dict(_Reader(coins._bernoulli.__globals__).call(coins._bernoulli, [_GIVEN, Fraction(1, 2)]))
    assert found[True] == pytest.approx(math.exp(-0.5))
