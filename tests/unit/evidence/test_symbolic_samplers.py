"""Laws that are read off the source of samplers are those of what they draw."""

import ast
import inspect
import math
import textwrap
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tests.user_code import coins, densities, inverses
from verifiable_dp.evidence.symbolic import sampler_laws
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.sampler_laws import SamplerLaw, law_of_leaves
from verifiable_dp.evidence.symbolic.sampler_reader import GIVEN, Reader


def law(function, *args):
    return law_of_leaves(Reader(function.__globals__).call(function, [GIVEN, *args]))


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
    holes = SamplerLaw(tuple(range(-60, 61)), tuple(w / math.fsum(weights) for w in weights), True)
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
    with pytest.raises(sampler_laws.UnreadError):
        law(sampler, 0.5)


def test_the_same_draw_compared_again_is_known():
    def sampler(rng):
        u = rng.random()
        if u < 0.5:
            return 0 if u < 0.2 else 1
        return 2 if u < 0.75 else 3

    (function,) = ast.parse(textwrap.dedent(inspect.getsource(sampler))).body
    found = dict(Reader({}).law(function.body, {"rng": GIVEN}))
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
    found = dict(Reader(coins._bernoulli.__globals__).call(coins._bernoulli, [GIVEN, Fraction(1, 2)]))
    assert found[True] == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize("play", densities.RIGHT.values(), ids=densities.RIGHT)
def test_reports_with_a_density_cost_its_largest_ratio(play):
    got = _explored(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(densities.EPSILON))


@pytest.mark.parametrize(("play", "cost"), densities.WRONG.values(), ids=densities.WRONG)
def test_reports_with_another_density_cost_what_they_give_away(play, cost):
    assert _explored(play).epsilon() == pytest.approx(cost)


def _cost(sampler, ends):
    """What a report of a raw number between these ends costs, given the generator first."""
    raw = sampler_laws.Sum(0.0, {sampler_laws.Basic(raw=ends): 1.0})
    return law_of_leaves(Reader(sampler.__globals__).call(sampler, [GIVEN, raw])).cost


def test_no_two_histograms_of_a_report_differ_by_more_than_its_cost():
    """Counts of 20 000 reports each of 0.1 and 0.7, in bins between all ends: ratios within 6 deviations."""
    rng, many, ends = np.random.default_rng(3), 20_000, np.array([-0.3, -0.2, 0.3, 0.4, 0.4, 1.0, 1.3])
    counts = np.array(
        [
            np.histogram([densities.square_wave(rng, x) for _ in range(many)], np.unique(ends))[0]
            for x in (0.1, 0.7)
        ]
    )
    most = math.exp(_cost(densities.square_wave, (0.1, 0.7)))
    assert (counts[0] - most * counts[1] <= 6 * np.sqrt(counts[0] + most**2 * counts[1])).all()
    near = counts[0][1] / counts[1][1]  # all of [-0.2, 0.3] is near 0.1 and far from 0.7
    assert near == pytest.approx(most, rel=0.15)


def _narrow(rng, reward):
    if rng.random() < 0.5:
        return rng.uniform(0.0, 2.0)
    return rng.uniform(reward, reward + 0.1)


def _rejoined(rng, reward):
    u = rng.random()
    return u if u < reward else u - reward


def _counted(rng, reward):
    return 1 if rng.random() < reward else 0


def _beyond(rng, reward):
    u = rng.random()
    return u if u < 2 * reward else u + 1.0


def _of_two(rng, reward):
    return rng.random() + rng.uniform(reward, reward + 1.0)


def _logarithm(rng, reward):
    return -math.log(reward) + rng.random()


def test_only_what_is_near_a_raw_number_costs():
    assert _cost(_narrow, (0.0, 1.0)) == pytest.approx(math.log(1 + 10 * 2))
    assert _cost(_narrow, (0.0, 0.05)) == pytest.approx(math.log(1 + 10 * 2))


def test_pieces_that_lie_upon_each_other_add_up():
    """u below r, and u - r above it: twice as dense below the smaller of r and 1 - r, 0 above the larger."""
    assert _cost(_rejoined, (0.3, 0.4)) == math.inf
    assert _cost(_rejoined, (0.3, 0.3 + 1e-9)) == math.inf


@pytest.mark.parametrize("sampler", [_counted, _beyond, _of_two, _logarithm], ids=lambda f: f.__name__)
def test_reports_that_are_not_understood_have_no_cost(sampler):
    with pytest.raises(sampler_laws.UnreadError):
        _cost(sampler, (0.0, 1.0))
