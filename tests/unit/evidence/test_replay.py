"""The judge's replays: what they accept, what they refuse, and faults of the search that they notice.

Broken variants, each seen to fail here: a judge that does not compare outputs, requests of draws, or costs;
one that believes the proposal's law; a price of one half; a move that no run comes to and that counts.
"""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import stats

from tests.user_code import hidden
from tests.user_code.replays import gate, pick
from verifiable_dp.evidence.judge import replay
from verifiable_dp.evidence.judge.replay import (
    GIVEN,
    Move,
    MovedGenerator,
    Sides,
    alike,
    position,
    price,
    replayed,
)
from verifiable_dp.evidence.premises import Taken, in_words
from verifiable_dp.evidence.symbolic import boxes, draws, enclosures, leaves, paths, terms, witness

SEED = 7
LAWS = {
    "laplace": stats.laplace,
    "logistic": stats.logistic,
    "cauchy": stats.cauchy,
    "hypsecant": stats.hypsecant,
    "exponential": stats.expon,
    "gumbel": stats.gumbel_r,
}


def noisy_sum(data, rng):
    return data.sum() + rng.laplace(0, 2.0)


def noisy_step(data, rng):
    """Two draws, of which one is compared."""
    first, second = rng.normal(0, 3.0), rng.exponential(2.0)
    return [data.sum() + first, float(second > 1)]


def whole(data, rng):
    return int(data.sum()) - rng.geometric(0.25)


def as_often_as_data(data, rng):
    return sum(rng.laplace(0, 1.0) for _ in range(1 + int(data.sum()))) * 0


def as_wide_as_data(data, rng):
    return 0 * rng.laplace(0, 1.0 + data.sum())


def by_a_uniform(data, rng):
    u = rng.random()
    return data.sum() + np.log(u / (1 - u))


LEFT, RIGHT = np.zeros(3), np.array([0.0, 1.0, 0.0])


def key(program, draw=0, data=LEFT):
    """The name of a draw of a run, by its number."""
    found = []

    class Noting(MovedGenerator):
        def _moved(self, method, drawn, *given):
            found.extend((GIVEN, position(self.bit_generator), i) for i in range(np.size(drawn)))
            return drawn

    program(data, Noting.of(np.random.Philox(SEED), GIVEN, {}, replay.DrawLog()))
    return found[draw]


def tried(program, moves, right=RIGHT, most=1.0, squared=0.0, chance=1.0, shown=None):
    if shown is None:
        shown = program(LEFT, np.random.Generator(np.random.Philox(SEED)))
    sides = Sides(LEFT, right, SEED, moves, lambda make: nullcontext(), shown, chance)
    return replayed(program, sides, lambda loss, two: loss <= most + 1e-9 and two <= squared + 1e-9)


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize("law", LAWS)
def test_the_price_of_a_shift_is_the_largest_loss_over_all_outcomes(law):
    x = np.linspace(-60, 60, 240_001)
    for shift in (0.01, 0.3, 1.0, 2.5):
        for sign in (1.0, -1.0):
            by, (cost, two) = sign * shift, price(law, sign * shift)
            with np.errstate(invalid="ignore"):
                gone = LAWS[law].logpdf(x) - LAWS[law].logpdf(x + by)
            loss = np.nanmax(gone)
            assert two == 0
            assert loss <= cost + 1e-9  # an infinite loss needs an infinite price
            # At scale 1 no known law is priced at more than three halves of a small step's loss at its worst.
            assert cost == np.inf or shift > 0.02 or loss >= cost / 1.6


def test_normal_and_geometric_noise_have_prices_of_their_own():
    assert price("normal", -1.5) == (0.0, 2.25)
    assert price("geometric", 3.0, 0.25) == (0.75, 0.0)
    for shift, step in ((-1.0, 0.25), (0.5, 0.25), (1.0, 0.0)):
        assert price("geometric", shift, step) == (np.inf, 0.0)
    assert price("student", 1.0) == (np.inf, 0.0)
    assert price("student", 0.0) == (0.0, 0.0)


# ---------------------------------------------------------------- proposals


def test_the_shift_that_hides_a_change_is_accepted_at_its_cost():
    found = tried(noisy_sum, {key(noisy_sum): Move(-1.0)})
    assert (found.wrong, found.tried, found.loss) == ("", True, 0.5)
    found = tried(noisy_step, {key(noisy_step): Move(-1.0)}, most=0.0, squared=1 / 9)
    assert (found.wrong, found.tried, found.squared) == ("", True, pytest.approx(1 / 9))
    found = tried(whole, {key(whole): Move(1.0)})
    assert (found.wrong, found.loss) == ("", pytest.approx(-np.log(0.75)))


@pytest.mark.parametrize(
    ("moves", "most", "said"),
    [
        ({}, 1.0, "returns something else"),
        ({0: 1.0}, 1.0, "returns something else"),  # the wrong sign
        ({0: -0.999}, 1.0, "returns something else"),
        ({0: -0.5}, 1.0, "returns something else"),  # in units of the scale
        ({0: -1.0}, 0.49, "costs more"),
    ],
)
def test_a_wrong_proposal_is_refused(moves, most, said):
    found = tried(noisy_sum, {key(noisy_sum, draw): Move(by) for draw, by in moves.items()}, most=most)
    assert said in found.wrong


def test_what_is_shown_must_be_what_was_said():
    """Else both sides may do alike what nobody has looked at."""
    found = tried(noisy_sum, {key(noisy_sum): Move(-1.0)}, shown=0.0)
    assert found.wrong == "a run returns something else than was traced"


def test_what_is_asked_for_must_not_follow_from_the_data():
    for program in (as_often_as_data, as_wide_as_data):
        assert tried(program, {}).wrong == "a neighbour asks for other draws"
        assert tried(program, {}, right=LEFT).wrong == ""


def test_the_law_is_that_of_the_method_and_not_the_one_that_is_proposed():
    """A step down of exponential noise has no price, whatever it is called."""
    one = key(noisy_step, 1)
    assert tried(noisy_step, {one: Move(-1e-6, law="laplace")}, right=LEFT).wrong.endswith("than the bound")
    assert tried(noisy_step, {one: Move(1e-6, law="laplace")}, right=LEFT).wrong == ""


def test_another_uniform_number_must_do_what_is_said_of_it():
    one, u = key(by_a_uniform), np.random.Generator(np.random.Philox(SEED)).random()
    there = 1 / (1 + (1 - u) / u * np.e)
    assert tried(by_a_uniform, {one: Move(-1.0, there, "logistic")}).wrong == ""
    assert "something else" in tried(by_a_uniform, {one: Move(-1.0, u, "logistic")}).wrong
    assert "costs more" in tried(by_a_uniform, {one: Move(-1.0, there, "no law")}).wrong
    assert "something else" in tried(by_a_uniform, {one: Move(-1.0)}).wrong  # nothing takes its place


def test_a_move_that_the_run_does_not_come_to_says_nothing():
    found = tried(noisy_sum, {(GIVEN, (9, 9, 9, 9, 9), 0): Move(-1.0)})
    assert (found.wrong, found.tried) == ("", False)


def test_what_counts_by_chance_costs_less_and_by_how_much():
    one = {key(noisy_sum): Move(-1.0)}
    assert tried(noisy_sum, one, most=np.log1p(0.25 * np.expm1(0.5)), chance=0.25).wrong == ""
    assert "costs more" in tried(noisy_sum, one, most=np.log1p(0.24 * np.expm1(0.5)), chance=0.25).wrong
    normal = {key(noisy_step): Move(-1.0)}
    assert "costs more" in tried(noisy_step, normal, most=0.0, squared=0.1, chance=0.25).wrong
    both = {**normal, key(noisy_step, 1): Move(1e-3)}
    assert tried(noisy_step, both, most=5e-4, squared=1 / 9, chance=0.25).wrong == ""
    assert "costs more" in tried(noisy_step, both, most=4e-4, squared=1 / 9, chance=0.25).wrong


def test_outputs_are_alike_to_rounding_and_no_further():
    assert alike([1.0, np.nan], [1.0 + 1e-10, np.nan])
    assert not alike([1.0], [1.0 + 1e-6])
    assert not alike([1.0], [[1.0]])
    assert alike([1, 2], [1, 2])
    assert not alike([1, 2], [1, 3])
    assert not alike(["a"], ["b"])


def lies(number):
    """How many random proposals are accepted, of those that are wrong."""
    chance, accepted = np.random.default_rng(number), 0
    one = key(noisy_sum)
    for _ in range(number):
        by = float(chance.choice([-0.5, 0.5, 1.0, -1.0, chance.normal(), -1.0 + 1e-6 * chance.normal()]))
        most = float(chance.choice([0.0, 0.5 - 1e-6, 0.5, 1.0, chance.random()]))
        right = abs(by + 1) <= 1e-7 and most >= abs(by) / 2 - 1e-8
        accepted += not tried(noisy_sum, {one: Move(by)}, most=most).wrong and not right
    return accepted


def test_no_lie_of_ten_thousand_is_accepted(monkeypatch):
    assert lies(10_000) == 0
    monkeypatch.setattr(replay, "CLOSE", 1e-3)  # and a judge that is not so particular accepts some
    monkeypatch.setattr(alike, "__defaults__", (1e-3,))
    assert lies(1_000) > 0


@pytest.mark.slow
def test_no_lie_of_a_million_is_accepted():
    assert lies(1_000_000) == 0


# ---------------------------------------------------------------- faults of the search


def confirmed(program):
    explored = paths.Program(program, (12, 2), (0.0, 1.0))
    found = paths.explore(explored, 2, most=6)
    assert np.isfinite(found.epsilon())
    return witness.confirmed(explored, 2, found, 0.0)


@pytest.mark.parametrize("program", [pick, gate])
def test_a_right_bound_stands_and_says_how_often_it_was_replayed(program):
    found = confirmed(program)
    held, missing = found.replays
    assert held >= 20
    assert held + missing == 24
    (premise,) = (one for one in found.bound().premises if one.id is Taken.AS_TRACED)
    assert premise.values == {"held": held, "open": missing}
    assert f"{held} neighbours of its runs were replayed" in in_words(premise.as_dict())


def twice_the_scale(patch):
    real = draws.FollowedGenerator._noise

    def wrong(self, kind, loc, scale, *given):
        return real(self, kind, loc, 2 * np.asarray(scale), *given)

    patch.setattr(draws.FollowedGenerator, "_noise", wrong)


def no_row_of_a_comparison(patch):
    real = terms.above

    def wrong(left, right, *, strict):
        world = (left if terms.is_term(left) else right).world
        made, kept = real(left, right, strict=strict), [*world.seen]
        world.seen[:] = kept[:-1]
        return made

    patch.setattr(terms, "above", wrong)
    patch.setattr(boxes, "above", wrong, raising=False)


def half_of_what_data_weigh(patch):
    """Weights of data are halved and their values put into the constant: nothing shows in a single run."""
    real = paths.Program.data

    def wrong(self, world, values):
        made = real(self, world, values)
        for term in made.data.flat:
            ((atom, weight),) = term.raw.items()
            term.raw = {atom: weight / 2}
            term.const += weight / 2 * atom.value
        return made

    patch.setattr(paths.Program, "data", wrong)


@pytest.mark.parametrize(
    ("fault", "program"),
    [
        (twice_the_scale, pick),
        (twice_the_scale, gate),
        (no_row_of_a_comparison, gate),
        (half_of_what_data_weigh, pick),
        (half_of_what_data_weigh, gate),
    ],
)
def test_a_fault_of_the_search_is_noticed(fault, program, monkeypatch):
    fault(monkeypatch)
    found = confirmed(program)
    assert found.failure.words.startswith("a replay on plain code: ")
    assert found.bound() is None


# ---------------------------------------------------------------- what hides


@pytest.mark.parametrize("program", hidden.LEAKS, ids=lambda f: f.__name__)
def test_what_hides_has_no_bound_within_the_claim(program):
    """Broken variants: replays at typical data only; outputs that are not held against the traced ones."""
    explored = paths.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    assert found.epsilon() > 1.2


@pytest.mark.parametrize(
    ("where", "rule", "wrong", "program"),
    [
        (terms, "_COARSE", 0.0, hidden.cancelled_in_a_band),
        (boxes.Box, "settle_type", lambda box: None, hidden.cut_by_a_list),
        (boxes, "of_first_type", boxes.wrapped, hidden.cut_entry_by_entry),
        (boxes, "_of_truths", lambda *given: None, hidden.truths_multiplied),
        (terms, "_truth", lambda made: made, hidden.truths_added),
        (enclosures, "is_like", lambda *given: True, hidden.no_noise_in_a_gap),
        (enclosures, "chance_of", lambda *given: 0.5, hidden.sign_in_a_gap),
        (leaves, "_MEETINGS", 1, hidden.places_that_may_meet),
        (terms.World, "widely", lambda world, many: None, hidden.weight_of_a_rare_share),
    ],
)
def test_without_its_rule_a_leak_has_a_bound(where, rule, wrong, program, monkeypatch):
    monkeypatch.setattr(where, rule, wrong)
    draws._law_of.cache_clear()
    explored = paths.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    draws._law_of.cache_clear()
    assert found.epsilon() <= 1.2


@pytest.mark.parametrize("program", hidden.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_of_what_hides_keep_their_bound(program):
    explored = paths.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    assert found.words() == ""
    assert found.epsilon() <= 1 + 1e-9
