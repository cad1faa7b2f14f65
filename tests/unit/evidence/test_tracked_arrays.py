"""Tracked arrays, rule by rule: what raw rewards decide, where noise meets them, and what coins tell."""

import copy
import math
import operator

import numpy as np
import pytest

from verifiable_dp.evidence.tracing import arrays, coins
from verifiable_dp.evidence.tracing.arrays import Raw, base
from verifiable_dp.evidence.tracing.generator import TrackedGenerator, Uniform
from verifiable_dp.evidence.tracing.ledger import Chosen, Ledger, Release, Told
from verifiable_dp.evidence.tracing.waiting_noise import Noise


@pytest.fixture
def ledger():
    return Ledger(frozenset({__file__}))


@pytest.fixture
def raw(ledger):
    return Raw.of([0.25, 0.75, 0.5], ledger)


@pytest.fixture
def public(ledger):
    return Raw.of([1.0, 2.0, 3.0], ledger, tainted=False)


@pytest.fixture
def rng(ledger):
    return TrackedGenerator.of(np.random.PCG64(7), ledger)


def leads(ledger):
    return [lead.what for lead in ledger.leads.values()]


# ---------------------------------------------------------------- every draw

SIZED = {  # every method that takes a size, and what it is given before
    **dict.fromkeys(("random", "uniform", "normal", "laplace", "logistic", "gumbel", "lognormal"), ()),
    **dict.fromkeys(("exponential", "rayleigh", "standard_cauchy", "standard_exponential"), ()),
    **dict.fromkeys(("standard_normal",), ()),
    **dict.fromkeys(("standard_gamma", "standard_t", "chisquare", "pareto", "power"), (3,)),
    **dict.fromkeys(("weibull", "zipf", "poisson"), (3,)),
    **dict.fromkeys(("beta", "f", "gamma", "vonmises", "wald"), (2.0, 3.0)),
    **dict.fromkeys(("geometric", "logseries"), (0.3,)),
    **dict.fromkeys(("binomial", "negative_binomial"), (5, 0.4)),
    **dict.fromkeys(("integers", "choice"), (10,)),
    "noncentral_chisquare": (2, 1.0),
    "noncentral_f": (2, 3, 1.0),
    "hypergeometric": (3, 4, 2),
    "triangular": (0.0, 0.5, 1.0),
    "dirichlet": ([1.0, 2.0],),
    "multinomial": (3, [0.5, 0.5]),
    "multivariate_hypergeometric": ([3, 4], 2),
    "multivariate_normal": ([0.0, 0.0], np.eye(2)),
}
OTHERS = {"bytes": (4,), "permutation": (5,), "permuted": ([1.0, 2.0, 3.0],), "shuffle": ([1.0, 2.0, 3.0],)}
METHODS = {name for name in dir(np.random.Generator) if name[0] != "_"} - {"bit_generator", "spawn"}


def test_every_draw_is_in_the_table():
    assert {*SIZED, *OTHERS} == METHODS


@pytest.mark.parametrize("size", [None, 3, (2, 2)])
@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_draw_is_that_of_numpy(name, size, rng):
    """Broken variant: a scalar uniform draw is given its ledger in the place of its value."""
    if size is not None and name in OTHERS:
        return
    given, named = copy.deepcopy((SIZED | OTHERS)[name]), {"size": size} if name in SIZED else {}
    plain = getattr(np.random.Generator(np.random.PCG64(7)), name)(*copy.deepcopy(given), **named)
    drawn = getattr(rng, name)(*given, **named)
    assert np.array_equal(np.asarray(base(drawn)), np.asarray(plain))
    assert np.shape(base(drawn)) == np.shape(plain)


# ---------------------------------------------------------------- what stays raw


@pytest.mark.parametrize(
    "step",
    [
        lambda x: x + 1,
        lambda x: 2 - x,
        lambda x: x / [1, 2, 3],
        lambda x: np.sqrt(x),
        lambda x: x.sum(),
        lambda x: x[1],
        lambda x: x[:2],
        lambda x: x.reshape(3, 1),
        lambda x: np.cumsum(x),
        lambda x: np.concatenate([[1.0], x]),
        lambda x: np.maximum(0.5, x),
        lambda x: x > 0.5,
        lambda x: x.copy(),
        lambda x: np.where([True, False, True], x, 0.0),
    ],
)
def test_what_is_made_of_raw_rewards_is_raw(raw, ledger, step):
    made = step(raw)
    assert arrays.is_tracked(made)
    assert arrays.tainted(made)
    assert leads(ledger) == []


@pytest.mark.parametrize(("value", "held"), [(0.75, True), (np.float64(0.5), True), (0.7, False)])
def test_whether_raw_rewards_hold_a_number_is_a_lead(raw, ledger, value, held):
    assert (value in raw) is held
    assert len(leads(ledger)) == 1


@pytest.mark.parametrize(("value", "held"), [(2.0, True), (2.5, False)])
def test_whether_public_numbers_hold_one_is_public(public, ledger, value, held):
    assert (value in public) is held
    assert leads(ledger) == []


@pytest.mark.parametrize("step", [lambda x: x + 1, lambda x: x[:2], lambda x: np.sqrt(x), lambda x: x.copy()])
def test_what_is_made_of_public_numbers_is_public(public, step):
    assert not arrays.tainted(step(public))


def test_a_public_number_is_a_plain_one(public):
    assert type(public.sum()) is np.float64
    assert type(public[0]) is np.float64
    assert not public.tainted


def test_shapes_of_raw_arrays_are_public(raw):
    for made in (np.zeros_like(raw), np.ones_like(raw), np.empty_like(raw)):
        assert not arrays.tainted(made)
    assert arrays.tainted(np.full_like(raw, raw[0]))
    assert np.shape(raw) == (3,)


@pytest.mark.parametrize(
    ("change", "tainted"),
    [
        (lambda x, raw: operator.setitem(x, 0, raw[0]), True),
        (lambda x, raw: operator.setitem(x, slice(0, 2), raw[:2]), True),
        (lambda x, raw: operator.setitem(x, 0, 5.0), False),
        (lambda x, raw: operator.iadd(x, raw), True),
        (lambda x, raw: operator.iadd(x, 1.0), False),
        (lambda x, raw: np.add(x, raw, out=x), True),
        (lambda x, raw: np.copyto(x, raw), True),
        (lambda x, raw: np.add.at(x, [0], raw[0]), True),
        (lambda x, raw: np.add.at(x, [0], 1.0), False),
    ],
)
def test_what_raw_rewards_are_written_into_is_raw(raw, public, change, tainted):
    change(public, raw)
    assert public.tainted is tainted


def test_what_is_overwritten_as_a_whole_is_public_again(raw):
    for key in (Ellipsis, slice(None)):
        x = raw.copy()
        x[0] = 0.0
        assert x.tainted
        x[key] = 0.0
        assert not x.tainted


def test_where_raw_rewards_were_written_first_is_kept(raw, public):
    assert public.place is None
    public[0] = raw[0]
    assert public.place.file == __file__


@pytest.mark.parametrize(
    ("value", "holds"),
    [([1, 2], False), ([1, "raw"], True), (((1, ["raw"]),), True), ("raw", False), ({"a": "raw"}, False)],
)
def test_what_holds_tracked_arrays(raw, value, holds):
    def put(part):
        if isinstance(part, list | tuple):
            return type(part)(put(one) for one in part)
        return raw if part == "raw" else part

    assert arrays.holds_tracked(put(value)) is holds


def test_taint_at_any_depth(raw, public):
    assert [arrays.tainted(x) for x in (raw, [1, (raw,)], {"a": [raw]}, public, [public, 1], "a")] == [
        *[True] * 3,
        *[False] * 3,
    ]


def test_the_plain_array_under_a_tracked_one(raw, public):
    assert type(arrays.base(raw)) is np.ndarray
    assert [type(x) for x in arrays.base((raw, [public], 3))] == [np.ndarray, list, int]
    assert arrays.base("text") == "text"


# ---------------------------------------------------------------- what decides


@pytest.mark.parametrize(
    ("step", "kinds"),
    [
        (lambda x: bool(x[0] > 0.5), ["branch"]),
        (lambda x: 0.5 in x, ["branch"]),
        (lambda x: list(range(9))[operator.index((x[0] * 4).astype(int))], ["index"]),
        (lambda x: x[np.argsort(x)], ["argmax"]),
        (lambda x: x.argmax(), ["argmax"]),
        (lambda x: np.argmin(x), ["argmax"]),
        (lambda x: x.nonzero(), ["argmax"]),
        (lambda x: float(x[0]), ["number"]),
        (lambda x: int(x[0]), ["number"]),
        (lambda x: x[0].item(), ["number"]),
        (lambda x: f"{x[0]:.2f}", ["text"]),
        (lambda x: str(x), ["text"]),
        (lambda x: repr(x), ["text"]),
        (lambda x: hash(x[0]), ["index"]),
        (lambda x: x[x > 0.5], ["index"]),
        (lambda x: len(x), []),
        (lambda x: list(x), []),
        (lambda x: x.tolist(), []),
        (lambda x: math.floor(x[0]), []),
        (lambda x: round(x[0]), []),
    ],
)
def test_which_questions_about_raw_rewards_decide(raw, public, ledger, step, kinds):
    step(public)
    assert leads(ledger) == []
    step(raw)
    assert leads(ledger) == kinds


def test_the_answer_of_a_decision_is_written_down_with_a_digest_of_the_data(raw, ledger):
    assert [bool(raw[1] > 0.5), bool(raw[1] > 0.5), bool(raw[0] > 0.5)] == [True, True, False]
    first, again, other = ledger.decided
    assert (first.outcome, other.outcome) == (True, False)
    assert first.about == again.about != other.about


def test_numbers_pass_for_numbers(raw):
    assert isinstance(raw[0], float)
    assert not isinstance(raw, float)
    assert isinstance(raw, np.ndarray)


def test_rewards_that_leave_are_noted(raw, public, ledger):
    public.view(np.ndarray)
    assert ledger.left == {}
    raw.view(np.ndarray)
    assert len(ledger.left) == 1


# ---------------------------------------------------------------- where noise meets data


def test_noise_on_raw_rewards_is_one_release(raw, rng, ledger):
    noisy = raw + rng.laplace(0.0, 2.0, 3)
    assert isinstance(noisy, Noise)
    assert ledger.releases == []
    assert noisy.raw
    values = np.asarray(noisy.settle())
    [release] = ledger.releases
    assert isinstance(release, Release)
    assert (release.law.kind, release.pure) == ("laplace", False)
    assert release.law.spread.tolist() == [2.0] * 3
    assert release.exact.tolist() == [0.25, 0.75, 0.5]
    assert release.out.tolist() == values.tolist()
    assert not arrays.tainted(noisy.settle())
    assert leads(ledger) == []


@pytest.mark.parametrize(
    ("step", "spread", "exact"),
    [
        (lambda x, z: x + z, 2.0, 0.25),
        (lambda x, z: z + x, 2.0, 0.25),
        (lambda x, z: x - z, 2.0, 0.25),
        (lambda x, z: (x + z) * 3, 6.0, 0.75),
        (lambda x, z: (x + z) / -2, 1.0, -0.125),
        (lambda x, z: 4 * (x + z) + 1, 8.0, 2.0),
        (lambda x, z: -(x + z), 2.0, -0.25),
        (lambda x, z: x + z + x, 2.0, 0.5),
    ],
)
def test_noise_is_scaled_and_shifted_with_its_data(raw, rng, ledger, step, spread, exact):
    float(step(raw[0], rng.laplace(0.0, 2.0)))
    [release] = ledger.releases
    assert release.law.spread.ravel().tolist() == [pytest.approx(spread)]
    assert release.exact.ravel().tolist() == [pytest.approx(exact)]
    assert not release.spoilt


def test_noise_is_released_once(raw, rng, ledger):
    noisy = raw + rng.laplace(0.0, 1.0, 3)
    for _ in range(2):
        assert noisy.argmax() in range(3)
    assert len(ledger.releases) == 1


def test_noise_that_meets_no_data_says_so(rng, ledger):
    float(rng.laplace(0.0, 1.0))
    [release] = ledger.releases
    assert release.pure


def test_entries_without_noise_stay_raw(raw, rng, ledger):
    """One entry of three has noise: the others decide raw."""
    x = raw.copy()
    x[1] = x[1] + rng.laplace(0.0, 1.0)
    x.argmax()
    assert leads(ledger) == ["argmax"]


# ---------------------------------------------------------------- coins


def test_a_uniform_draw_below_a_public_chance_is_a_coin(rng, ledger):
    u = rng.random()
    assert isinstance(u, Uniform)
    assert (u < 0.3) is (float(u) < 0.3)
    assert [chance for _, chance in ledger.compared] == [0.3]


@pytest.mark.parametrize(
    ("compare", "chance"),
    [
        (lambda u: u < 0.3, 0.3),
        (lambda u: u >= 0.3, 0.7),
        (lambda u: u <= 2.0, 1.0),
        (lambda u: u < -1.0, 0.0),
        (lambda u: ~(u < 0.3), 0.7),
    ],
)
def test_chances_of_coins(rng, compare, chance):
    coins_ = compare(rng.random(4))
    assert coins_.flips.chances.tolist() == pytest.approx([chance] * 4)
    assert coins_.flips.draws.tolist() == [0, 1, 2, 3]


BITS = [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "tell",
    [
        lambda bits, heads: np.where(heads, bits, 1 - bits),
        lambda bits, heads: bits.astype(bool) ^ heads,
        lambda bits, heads: bits.astype(bool) != heads,
    ],
)
def test_bits_that_coins_turn_are_told(rng, ledger, tell):
    bits = Raw.of(BITS, ledger)
    said = tell(bits, rng.random(4) < 0.75)
    [told] = ledger.releases
    assert isinstance(told, Told)
    assert told.flips.chances.tolist() == [0.75] * 4
    assert not arrays.tainted(said)
    assert ledger.seen == set()
    assert leads(ledger) == []


def test_coins_that_are_seen_hide_nothing(rng, ledger):
    heads = rng.random(4) < 0.75
    _ = heads.sum()
    np.where(heads, Raw.of(BITS, ledger), 1 - Raw.of(BITS, ledger))
    assert ledger.seen == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("heads", "tails", "told"),
    [
        (BITS, [1.0, 0.0, 0.0, 1.0], True),
        ([-1.0, 1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0], True),
        (BITS, BITS, False),
        ([0.0, 2.0, 2.0, 0.0], [2.0, 0.0, 0.0, 2.0], False),
        (BITS[:2], [1.0, 0.0], False),
    ],
)
def test_what_is_told_are_bits_and_their_opposites(rng, ledger, heads, tails, told):
    found = coins.told(ledger, rng.random(4) < 0.5, np.array(heads), np.array(tails))
    assert (found is not None) is told
    assert len(ledger.releases) == told


def test_a_uniform_draw_below_a_raw_chance_is_an_outcome_of_it(rng, ledger):
    chances = Raw.of([0.25, 1.5, -1.0], ledger)
    hit = rng.random(3) < chances
    [chosen] = ledger.releases
    assert isinstance(chosen, Chosen)
    assert chosen.chances.tolist() == [[0.75, 0.25], [0.0, 1.0], [1.0, 0.0]]
    assert chosen.outcome.tolist() == [int(x) for x in arrays.base(hit)]
    assert not arrays.tainted(hit)
