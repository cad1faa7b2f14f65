"""Laws that are read off the source of samplers are those of what they draw."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tests.user_code import coins, densities, inverses
from verifiable_dp.evidence.symbolic import (
    branch_forcing,
    enclosures,
    kinds,
    rewriting,
    sampler_laws,
    samplers,
    selects,
)
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.branch_forcing import BranchFlips
from verifiable_dp.evidence.symbolic.draw_sources import _QUANTILES
from verifiable_dp.evidence.symbolic.draw_sources import itself as _itself
from verifiable_dp.evidence.symbolic.enclosures import Enclosure, Quantile, chance_of, is_like
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.sampler_laws import SamplerLaw, law_of_leaves
from verifiable_dp.evidence.symbolic.sampler_reader import GIVEN, Reader
from verifiable_dp.evidence.symbolic.uniform_draws import UniformDraw
from verifiable_dp.evidence.tracing.ledger import Place


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


UNFOLLOWED = ("kept_in_a_name",)  # for the judge what a condition gives a name may be a number of draws


@pytest.mark.parametrize("name", [name for name in inverses.RIGHT if name not in UNFOLLOWED])
def test_logarithms_of_uniform_numbers_cost_what_they_are_worth(name):
    got = _explored(inverses.RIGHT[name])
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


@pytest.mark.parametrize("name", UNFOLLOWED)
def test_logarithms_that_are_not_followed_have_no_bound(name):
    assert "may depend on a random draw" in _explored(inverses.RIGHT[name]).words()


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


# A draw that is compared, and functions of NumPy's on numbers that hold no noise yet.


@pytest.fixture
def drawn(monkeypatch):
    """Makes a function of a draw that is a quarter, and notes what is compared."""
    compared = []
    world = SimpleNamespace(compare=lambda **given: compared.append(given))
    monkeypatch.setattr(UniformDraw, "plain", lambda self: np.float64(self.function(0.25)))

    def make(function=_itself, is_public=False, kind=UniformDraw):
        return kind(SimpleNamespace(world=world, is_public=is_public), function), compared

    return make


class Other(UniformDraw):
    """Not the draw that numbers are compared with as if they had chance 0."""


@pytest.mark.parametrize(
    ("changes", "other", "equal", "certain"),
    [
        ({}, 0.25, False, True),  # it has a density: no number is met
        ({}, np.float64(0.25), False, True),
        ({"function": lambda u: 2 * u + 1}, 1.5, False, True),
        ({"function": np.floor}, 0.0, True, False),  # few values
        ({"is_public": True}, 0.25, True, False),  # known: the number itself
        ({"is_public": True}, 0.5, False, False),
        ({"kind": Other}, 0.25, True, False),
        ({}, "a quarter", False, False),
    ],
)
def test_whether_a_draw_is_a_number(drawn, changes, other, equal, certain):
    draw, compared = drawn(**changes)
    assert (draw == other) is np.bool_(equal) or (draw == other) is equal
    assert bool(compared) == certain


WEIGHTS = np.array([1.0, -2.0])
OF_SUMS = {  # with what a reward in [0, 1] moves them by
    "diff": (lambda x: np.diff(x)[0], 1.0),
    "ediff1d": (lambda x: np.ediff1d(x)[0], 1.0),
    "tensordot": (lambda x: np.tensordot(x, WEIGHTS, 1), 2.0),
    "convolve": (lambda x: np.convolve(x, WEIGHTS)[1], 2.0),
    "correlate": (lambda x: np.correlate(x, WEIGHTS)[0], 2.0),
    "kron": (lambda x: np.kron(x, WEIGHTS)[1], 2.0),
    "trapezoid": (lambda x: np.trapezoid(x), 0.5),
    "polyval": (lambda x: np.polyval(x, 3.0), 3.0),
}
NOT_FOLLOWED = {
    "unwrap": lambda x: np.unwrap(x)[1],
    "gradient": lambda x: np.gradient(x)[0],
    "interp": lambda x: np.interp(0.5, [0, 1], x),
    "cumprod": lambda x: np.cumprod(x)[1],
}


def found(function):
    def play(rewards, rng):
        return np.repeat(int(function(rewards.sum(axis=0)) + rng.laplace() > 0.5), len(rewards))

    return explore(Program(play, (2, 2), (0.0, 1.0)), 2, most=2)


@pytest.mark.parametrize("name", OF_SUMS)
def test_what_numpy_makes_of_sums_costs_what_a_reward_moves_it_by(name):
    function, moved = OF_SUMS[name]
    got = found(function)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(moved, rel=1e-9))


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_numpy_makes_of_sums_in_another_way_ends_the_bound(name):
    """Broken variant: its code runs on numbers that stand for others."""
    assert found(NOT_FOLLOWED[name]).failure == f"we cannot bound how much np.{name} of raw rewards changes"


# What functions of a draw are on stretches: held against the functions themselves, at points in between.


ONES = {  # functions of one number
    **{f.__name__: f for f in (np.negative, np.square, np.abs, np.log, np.log2, np.log10, np.log1p, np.exp)},
    **{f.__name__: f for f in (np.expm1, np.sqrt, np.sin, np.cos, np.tan, np.arctanh, np.reciprocal)},
    "ndtri": special.ndtri,
    "erfinv": special.erfinv,
    "logit": special.logit,
    "half": lambda u: u**0.5,
    "one over": lambda u: u**-1,
    "clip": lambda u: np.clip(u, 0.3, 0.6),
    "laplace": Quantile(stats.laplace),
    "from above": Quantile(stats.gumbel_r, above=True),
    "sine and cosine": lambda u: np.cos(2 * np.pi * u) - 3 * np.sin(2 * np.pi * u),
    "chosen": lambda u: np.where(u < 0.4, u * u, 1 - u),
    "larger": lambda u: np.maximum(u * u, 1 - u) - np.minimum(2 * u, 0.7),
    "signed": lambda u: np.copysign(np.log1p(u), u - 0.5),
}
STEPS = {
    **{f.__name__: f for f in (np.floor, np.ceil, np.rint, np.trunc)},
    "sign": lambda u: np.sign(u - 0.25),
    "compared": lambda u: 1.0 * (u > 0.5) + 2.0 * (u <= 0.7) + (u == 0.3) - (u != 0.3),
    "logic": lambda u: 1.0 * np.logical_or(u < 0.2, np.logical_not(u < 0.9)),
    "bits": lambda u: 1.0 * ((u > 0.2) & ~(u > 0.6)),
}


def enclosed(function, low, high):
    """Enclosures on one stretch."""
    ends = (np.array([float(value)]) for value in (low, high, 1, 1))
    return Enclosure.of(function(Enclosure(*ends)))


stretches = st.tuples(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 0.3)).map(
    lambda ends: (ends[0], min(ends[0] + ends[1], 1 - 1e-9))
)


def lies_within(function, low, high):
    """Values and slopes at points in between lie in the enclosure."""
    found = enclosed(function, low, high)
    at = np.linspace(low, high, 41)
    values = np.asarray(function(at), np.float64) * np.ones(at.shape)
    near = 1e-9 * (1 + np.abs(values))
    assert (found.low <= values + near).all()
    assert (values - near <= found.high).all()
    steps = np.diff(values) / np.diff(at)
    rounding = 64 * np.finfo(float).eps * (1 + np.abs(values).max())
    rough = 1e-6 * (1 + np.abs(steps)) + rounding / (at[1] - at[0])
    assert (found.least <= steps + rough).all()
    assert (steps - rough <= found.most).all()


@pytest.mark.parametrize("name", [*ONES, *STEPS])
@settings(max_examples=60, deadline=None)
@given(stretch=stretches)
def test_values_and_slopes_lie_within(name, stretch):
    """Broken variants: a monotone function's slope at one end; an absolute value that forgets its bend."""
    lies_within((ONES | STEPS)[name], *stretch)


@pytest.mark.parametrize("name", [*ONES, *STEPS])
def test_values_and_slopes_lie_within_some_stretches(name):
    """By day. Broken variant: what is not true is 1.05 - x."""
    for stretch in ((0.01, 0.1), (0.05, 0.95), (0.2, 0.45), (0.45, 0.55), (0.69, 0.72), (0.91, 0.99)):
        lies_within((ONES | STEPS)[name], *stretch)


TIGHT = (np.negative, np.square, np.abs, np.exp, np.expm1, np.sqrt, np.log, np.arctanh, np.reciprocal)


@pytest.mark.parametrize("function", [*TIGHT, np.floor, np.ceil, np.rint, np.trunc, np.sign])
@pytest.mark.parametrize("ends", [(-2.2, -0.5), (-0.9, 0.4), (-0.75, -0.25), (0.25, 0.75), (0.6, 2.2)])
def test_one_function_is_enclosed_to_its_range(function, ends):
    """On both sides of its bend and around it. Broken variant: an absolute value that starts at 0."""
    found = enclosed(function, *ends)
    at = np.unique([*np.linspace(*ends, 9), *(x for x in (-1.0, 0.0, 1.0) if ends[0] < x < ends[1])])
    with np.errstate(all="ignore"):
        values = function(at)
    if not np.isfinite(values).all():
        assert not np.isfinite([found.low, found.high]).all()
        return
    assert found.low == pytest.approx(values.min(), abs=1e-9)
    assert found.high == pytest.approx(values.max(), abs=1e-9)
    steps = np.diff(values) / np.diff(at)
    assert function not in TIGHT or (found.least <= steps + 1e-9).all()
    assert function not in TIGHT or (steps - 1e-9 <= found.most).all()


def test_what_is_not_known_is_not_enclosed():
    unknown = [np.sinh, special.gammaln, lambda u: u**3, lambda u: float(u), lambda u: u if u > 0.5 else 1]
    for function in unknown:
        with pytest.raises((enclosures.Unenclosed, TypeError)):
            enclosed(function, 0.1, 0.2)
        assert not is_like(function, lambda u: u, 1.0)
        assert np.isnan(chance_of(function, 1.0))


@pytest.mark.parametrize("kind", list(_QUANTILES))
def test_laws_are_like_themselves_and_like_no_other(kind):
    law = _QUANTILES[kind]
    assert is_like(lambda u: 3 - 2 * law(1 - u), lambda u: -law(1 - u), 2.0)
    assert not is_like(lambda u: 3 - 2 * law(1 - u), lambda u: -law(1 - u), 2.02)
    for other, another in _QUANTILES.items():
        assert is_like(another, law, 1.0) == (other == kind)


def flat(u, width, at=0.40015):
    """1, but 0 within a stretch."""
    return np.minimum(1.0, np.maximum(0.0, np.abs(u - at) - width) * 1e15)


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-8, 1e-11])
def test_a_narrow_stretch_is_seen(width):
    """Broken variant: what stays open is not counted."""
    law = _QUANTILES["logistic"]
    assert not is_like(lambda u: law(u) * flat(u, width), law, 1.0)
    assert not is_like(lambda u: law(u) + 0.1 * width * np.tanh((u - 0.3) / width), law, 1.0)
    assert chance_of(lambda u: np.sign(u - 0.5) * flat(u, width), -1.0) != pytest.approx(0.5, abs=width / 2)


def test_chances_of_values():
    assert chance_of(lambda u: np.sign(u - 0.25), 1.0) == pytest.approx(0.75, abs=1e-11)
    assert chance_of(lambda u: np.where(u < 0.125, 3.0, -2.0), 3.0) == pytest.approx(0.125, abs=1e-11)
    assert chance_of(lambda u: 0 * u + 2.0, 2.0) == pytest.approx(1.0, abs=1e-11)
    assert chance_of(lambda u: u, 0.5) == pytest.approx(0.0, abs=1e-11)


def test_functions_that_are_made_alike_have_one_structure():
    def scaled(by):
        return lambda u: by * np.log(u)

    assert enclosures.structure(scaled(2.0)) == enclosures.structure(scaled(2.0))
    assert enclosures.structure(scaled(2.0)) != enclosures.structure(scaled(3.0))
    assert enclosures.structure(scaled(2)) != enclosures.structure(scaled(2.0))
    assert enclosures.structure(scaled([1])) is None
    assert enclosures.structure([].append) is None


# Upper bounds for code that draws from `np.random`'s legacy functions, and for its leaking twins.


# ruff: noqa: NPY002


def found_of_legacy(noisy):
    def play(rewards, rng):
        half, arms = len(rewards) // 2, np.arange(len(rewards)) % 2
        sums = np.zeros(2)
        for t in range(half):
            sums[t % 2] += rewards[t, t % 2]
        arms[half:] = np.argmax(noisy(sums, rng))
        return arms

    return explore(Program(play, (12, 2), (0.0, 1.0)), 2, most=8)


RIGHT = [
    lambda s, rng: s + np.random.laplace(0, 1.0, 2),
    lambda s, rng: s + np.random.laplace(scale=1.0, size=2),
    lambda s, rng: np.random.laplace(s, 1.0),
    lambda s, rng: s + (np.random.exponential(1.0, 2) - np.random.exponential(1.0, 2)),
    lambda s, rng: [
        x - np.sign(u) * np.log(1 - 2 * abs(u)) for x in s for u in [np.random.uniform(-0.5, 0.5)]
    ],
]
LEAKS = [
    lambda s, rng: s + np.random.laplace(0, 0.5, 2),  # too little
    lambda s, rng: s + np.random.laplace(1.0, size=2) * 0.5,
    lambda s, rng: s + np.random.RandomState(7).laplace(0, 1.0, 2),  # known to everybody
    lambda s, rng: (np.random.seed(7), s + np.random.laplace(0, 1.0, 2))[1],
    lambda s, rng: s + (z := np.random.laplace(0, 1.0, 2)) - z,
    lambda s, rng: s + np.random.randint(3, size=2),
]


@pytest.mark.parametrize("noisy", RIGHT)
def test_legacy_draws_are_followed(noisy):
    got = found_of_legacy(noisy)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0, rel=1e-9))


@pytest.mark.parametrize("noisy", LEAKS)
def test_their_leaking_twins_are_not_bounded_within_the_claim(noisy):
    assert found_of_legacy(noisy).epsilon() > 1 + 1e-3


def test_normal_noise_costs_what_the_gaussian_mechanism_costs():
    def legacy(_):
        return np.random.normal(0, 2.0, 2)

    def own(rng):
        return rng.normal(0, 2.0, 2)

    ours, theirs = (found_of_legacy(lambda s, rng, draw=draw: s + draw(rng)) for draw in (legacy, own))
    assert ours.words() == ""
    assert ours.bound(1e-5).epsilon == pytest.approx(theirs.bound(1e-5).epsilon)
    assert math.isfinite(ours.bound(1e-5).epsilon)


# Single rules of paths: which condition of a branch is turned about, and what is rewritten.


SITES = ((Place("a", 1), (1, 0)), (Place("b", 2), (2, 0)), (Place("a", 3), (3, 0)))


def test_where_conditions_stand_in_a_file():
    flips = BranchFlips(SITES)
    assert flips.of("a") == (((1, 0), 0), ((3, 0), 2))
    assert flips.of("b") == (((2, 0), 1),)
    assert flips.of("c") == ()


@pytest.mark.parametrize(
    ("first", "last", "came"),
    [
        (0, 0, [True, True, True]),
        (0, 1, [False, True, True]),
        (1, 2, [True, False, True]),
        (1, 9, [True, False, False]),
        (3, 9, [True, True, True]),
    ],
)
def test_when_a_condition_is_turned_about(first, last, came):
    flips = BranchFlips(SITES, first, last)
    assert [flips.turned(0, True) for _ in range(3)] == came
    assert flips.asked == {0: 3}
    assert not flips.elsewhere


def test_the_condition_of_a_loop_is_turned_only_where_it_comes_out_as_at_first():
    """A loop that was always entered is left; at its end it is not gone on with."""
    flips = BranchFlips(SITES, 1, 9)
    assert [flips.turned(1, value, loop=True) for value in (True, True, False, True)] == [
        True,
        False,
        False,
        False,
    ]
    assert flips.asked == {1: 3}
    assert flips.sides == {1: True}


def test_each_condition_is_counted_by_itself():
    flips = BranchFlips(SITES, 1, 2)
    assert [flips.turned(at, False) for at in (0, 1, 0, 1)] == [False, False, True, True]


def test_a_condition_of_another_thread_is_left_alone():
    flips = BranchFlips(SITES, 0, 9, thread=-1)
    assert flips.turned(0, True) is True
    assert flips.elsewhere


class Path:
    def __init__(self, failure="", crashed=False):
        self.failure, self.crashed = failure, crashed


HERE = [(Place(__file__, 1), (1, 0))]


def forced(path, asks=1, missed=HERE, rest=()):
    """What comes of forcing branches in runs that ask for the last of them so often."""
    calls = []

    def run(number, flips, steps):
        for _ in range(asks):
            flips.turned(len(flips.sites) - 1, True)
        calls.append((flips.first, flips.last))
        return path

    paths, place, closed = branch_forcing.forced(missed, run, lambda coverage: rest)
    return len(paths), place, closed, calls


def test_branches_are_forced_first_in_the_middle_last_and_from_the_middle_on():
    paths, place, closed, calls = forced(Path(), asks=5)
    assert (paths, place, closed) == (6, None, [])
    assert calls[0] == (0, 0)  # how often it is asked
    assert [first for first, _ in calls[1:]] == [0, 2, 4, 2, 2, 2]
    assert [last for _, last in calls[1:4]] == [1, 3, 5]


def test_a_branch_that_only_raises_is_closed():
    paths, place, closed, _ = forced(Path(crashed=True))
    assert (paths, place, closed) == (0, None, HERE)


@pytest.mark.parametrize(
    ("path", "asks", "missed"),
    [(Path(failure="no bound"), 1, HERE), (Path(), 0, HERE), (Path(), 1, [(HERE[0][0], None)])],
)
def test_a_branch_that_cannot_be_looked_at_is_named(path, asks, missed):
    assert forced(path, asks, missed)[1] == HERE[0][0]


def heads(rng):
    count = 0
    while rng.random() < 0.5:
        count += 1
    return count


def listed(rng):
    return [one for one in range(3) if rng.random() < 0.5]


@pytest.mark.parametrize(("function", "reads"), [(heads, True), (listed, False), (Path.__init__, False)])
def test_functions_with_branches_may_draw_noise(function, reads):
    assert samplers.draws_noise(function.__code__) is reads


@pytest.mark.parametrize(("kind", "value", "made"), [("int", 3.7, 3), ("float", 2, 2.0), ("bool", 2, True)])
def test_what_stands_in_for_a_class_of_numbers_is_as_it(kind, value, made):
    known = kinds.NUMBERS[kind]
    assert known(value) == made
    assert type(known(value)) is type(made)
    assert isinstance(made, known)
    assert not isinstance("", known)


# ---------------------------------------------------------------- what is rewritten


@pytest.mark.parametrize(("value", "decides"), [(True, True), (np.False_, True), (1, False), ([], False)])
def test_only_a_truth_value_decides_a_choice_of_arrays(value, decides):
    assert selects.decides(value) is decides


@pytest.mark.parametrize(
    ("source", "drawn", "made"),
    [
        ("if c:\n    x = x + 1", False, "x = x + 1 if c else x"),
        ("if c:\n    x = 1 - x", False, "x = 1 - x if c else x"),
        ("if c:\n    x = x + 1", True, None),
        ("if c:\n    x = 1", False, None),  # it does not change what the name holds
        ("if c:\n    x = x + 1\nelse:\n    x = 2", False, None),
        ("if c:\n    x = x + 1\n    y = 2", False, None),
        ("if c:\n    x = x + 1\nelse:\n    y = 2", False, None),
        ("if c:\n    x[0] = x + 1", False, None),
        ("if c:\n    x = y = x + 1", False, None),
        ("if c:\n    print(x)", False, None),
    ],
)
def test_a_name_that_changes_on_a_condition_is_an_expression(source, drawn, made):
    found = rewriting._chosen(ast.parse(source).body[0], drawn)
    assert (found and ast.unparse(found)) == made
