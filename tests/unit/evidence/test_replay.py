"""The judge's replays: what they accept, what they refuse, and faults of the search that they notice.

Broken variants, each seen to fail here: a judge that does not compare outputs, requests of draws, or costs;
one that believes the proposal's law; a price of one half; a move that no run comes to and that counts.
"""

from contextlib import nullcontext

import numpy as np
import pytest
from msgspec import structs

from tests.user_code import bounded
from tests.user_code import hidden as programs
from tests.user_code.unshown import gate, pick
from verifiable_dp.evidence.judge import language, neighbours, replay
from verifiable_dp.evidence.judge.certificate import (
    Frame,
    LinearShifts,
    MovedEntry,
    Pattern,
    Profile,
    TracedCertificate,
    TracedPath,
)
from verifiable_dp.evidence.judge.neighbours import MovedGroup, hidden
from verifiable_dp.evidence.judge.replay import GIVEN, Move, MovedGenerator, Sides, alike, position, replayed
from verifiable_dp.evidence.premises import Taken, in_words
from verifiable_dp.evidence.symbolic import (
    array_protocol,
    bounded_programs,
    boxes,
    choosers,
    comparing,
    coverage,
    draw_sources,
    draws,
    enclosures,
    leaves,
    paths,
    shifts,
    term_operators,
    terms,
    witness,
    world,
)

SEED = 7


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
        ({}, 1.0, "returns a different value, although"),
        ({0: 1.0}, 1.0, "returns a different value, although"),  # the wrong sign
        ({0: -0.999}, 1.0, "returns a different value, although"),
        ({0: -0.5}, 1.0, "returns a different value, although"),  # in units of the scale
        ({0: -1.0}, 0.49, "costs more"),
    ],
)
def test_a_wrong_proposal_is_refused(moves, most, said):
    found = tried(noisy_sum, {key(noisy_sum, draw): Move(by) for draw, by in moves.items()}, most=most)
    assert said in found.wrong


def test_what_is_shown_must_be_what_was_said():
    """Else both sides may do alike what nobody has looked at."""
    found = tried(noisy_sum, {key(noisy_sum): Move(-1.0)}, shown=0.0)
    assert found.wrong == "a run returns a different result from the traced run"


def test_what_is_asked_for_must_not_follow_from_the_data():
    for program in (as_often_as_data, as_wide_as_data):
        assert tried(program, {}).wrong == "a run on a neighbouring input requests different draws"
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
    assert "a different value, although" in tried(by_a_uniform, {one: Move(-1.0, u, "logistic")}).wrong
    assert "costs more" in tried(by_a_uniform, {one: Move(-1.0, there, "no law")}).wrong
    # Nothing takes its place.
    assert "a different value, although" in tried(by_a_uniform, {one: Move(-1.0)}).wrong


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


# ---------------------------------------------------------------- certificates that lie of one run


def certified_sum(law, scale, weight, high):
    """Of `noisy_sum`: what is said of its noise, of the data in it, and of how far they move."""
    entry, by = MovedEntry(0.0, high, ((0, weight),)), -weight / scale
    shifts = LinearShifts(((0, 0.0, ((0, by),)),))
    return TracedCertificate(
        "paths",
        1,
        (Frame(((law, 0.0),), (("=", ((0, scale),)),)),),
        (Pattern(0, (entry,), shifts, shifts),),
        (Profile(((0, 1, 1),)),),
        (TracedPath(0, ((0, (1,)),)),),
    )


def told_of_the_sum(certificate, key, scale, unit=1, delta=1.0):
    """What comes of a replay of `noisy_sum` with its certificate."""

    def move(_, shift):
        return Move(shift * scale)

    said = hidden(certificate, unit, [MovedGroup(0, (delta,), (key,))], move)
    if said.wrong:
        return said.wrong
    found = tried(noisy_sum, said.moves, most=said.most.loss, squared=said.most.squared)
    return found.wrong


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (("laplace", 2.0, 1.0, 1.0), ""),
        (("logistic", 2.0, 1.0, 1.0), ""),  # at the same price
        (("laplace", 2.0, 1.0, 1.5), ""),  # a larger range than it takes
        (("laplace", 1.0, 1.0, 1.0), ""),  # and a smaller scale
        (("laplace", 4.0, 1.0, 1.0), "costs more"),  # a scale read double
        (("normal", 2.0, 1.0, 1.0), "costs more"),  # a cheaper law
        (("laplace", 2.0, 0.5, 1.0), "returns a different value, although"),  # data that weigh half
        (("laplace", 2.0, 0.0, 1.0), "returns a different value, although"),  # a sum that moves nothing
        (("laplace", 2.0, -1.0, 1.0), "returns a different value, although"),
        (("laplace", 2.0, 1.0, 0.5), "by more than the certificate says"),  # a smaller range
    ],
)
def test_what_a_certificate_says_of_a_run_is_tried(said, wrong):
    found = told_of_the_sum(certified_sum(*said), key(noisy_sum), said[1])
    assert wrong in found
    assert bool(found) == bool(wrong)


LEFT_OUT = "the certificate leaves out values that change on a neighbouring input"


def test_a_certificate_must_name_the_unit_and_no_draw_twice():
    right, one = certified_sum("laplace", 2.0, 1.0, 1.0), key(noisy_sum)
    assert told_of_the_sum(right, one, 2.0, unit=0) == LEFT_OUT
    groups = [MovedGroup(0, (1.0,), (one,))] * 2
    often = structs.replace(right, profiles=(Profile(((0, 1, 2),)),))
    assert hidden(right, 1, groups, Move).wrong == LEFT_OUT
    assert hidden(often, 1, groups, Move).wrong == "the certificate counts a draw twice"
    assert hidden(often, 1, groups[:1], lambda key, by: None).moves is None


def lies_of_certificates(number, seed):
    """How many random certificates of a run are accepted, of those that are wrong."""
    chance, accepted, one = np.random.default_rng(seed), 0, key(noisy_sum)
    for _ in range(number):
        law = str(chance.choice(["laplace", "logistic", "cauchy", "normal", "no law"]))
        scale, weight, high = (
            float(chance.choice([true, true, true * (1 + 1e-4 * chance.normal()), true / 2, true * 2]))
            for true in (2.0, 1.0, 1.0)
        )
        # Of what has no price here the bound is infinite.
        # Outputs are alike to 1e-8 of what they are, so that a weight is known no better.
        priced = law == "no law" or (law != "normal" and weight * high / scale >= 0.5 - 1e-7)
        right = priced and abs(weight - 1) <= 1e-7 and high >= 1 - 1e-9
        accepted += not told_of_the_sum(certified_sum(law, scale, weight, high), one, scale) and not right
    return accepted


def test_no_lie_of_certificates_of_two_thousand_is_accepted(monkeypatch):
    """Then a judge that asks for half of the price, and one that takes any move, accept some."""
    assert lies_of_certificates(2_000, 3) == 0
    with monkeypatch.context() as patch:
        patch.setattr(replay, "price", lambda law, by, step: (abs(by) / 2, 0.0))
        assert lies_of_certificates(300, 3) > 0
    monkeypatch.setattr(neighbours, "_reaches", lambda *given: True)
    assert lies_of_certificates(300, 3) > 0


@pytest.mark.slow
def test_no_lie_of_certificates_of_a_million_is_accepted():
    assert lies_of_certificates(1_000_000, 4) == 0


# ---------------------------------------------------------------- a search that lies
#
# Each lie is consistent, so that the arithmetic of rows says nothing: the search solves for shifts anew.


def half_the_range(frame, entries):
    return frame, tuple(structs.replace(one, low=one.low / 2, high=one.high / 2) for one in entries)


def half_of_the_data(frame, entries):
    halves = [tuple((row, weight / 2) for row, weight in one.weights) for one in entries]
    return frame, tuple(structs.replace(one, weights=half) for one, half in zip(entries, halves, strict=True))


def normal_noise(frame, entries):
    return structs.replace(frame, draws=tuple(("normal", 0.0) for _ in frame.draws)), entries


def one_row_less(frame, entries):
    """The first one: of which nothing is said, and that nobody moves."""
    left = [tuple((row - 1, weight) for row, weight in one.weights if row) for one in entries]
    rows = tuple((relation, noise) for relation, noise in frame.rows[1:])
    return structs.replace(frame, rows=rows, maximum=len(rows) > 1 and frame.maximum), tuple(
        structs.replace(one, weights=weights) for one, weights in zip(entries, left, strict=True)
    )


def no_unit(frame, entries):
    return None


LIES = {
    half_the_range: "by more than the certificate says",
    half_of_the_data: "under the noise that hides it",
    normal_noise: "costs more than the bound",
    one_row_less: "under the noise that hides it",
    no_unit: "leaves out what a neighbour moves",
}


def told(frame, entries):
    """The cheapest pattern; of a frame without rows nothing has to move."""
    if not frame.rows:
        return Pattern(0, entries, LinearShifts(), LinearShifts())
    return shifts.found(shifts.FrameNoise(frame), entries, None, True, False).pattern


def lying(lie, certificate):
    """A certificate of one path that lies about all of its patterns."""
    made = [lie(certificate.frames[one.frame], one.entries) for one in certificate.patterns]
    if None in made:
        return structs.replace(certificate, paths=(TracedPath(0, ()),))
    patterns = [told(*one) for one in made]
    return structs.replace(
        certificate,
        frames=tuple(frame for frame, _ in made),
        patterns=tuple(structs.replace(one, frame=i) for i, one in enumerate(patterns)),
    )


@pytest.mark.parametrize("lie", LIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("program", [pick, gate, bounded.two_budgets, bounded.discounted])
def test_what_only_plain_code_can_see_is_seen_there(program, lie, monkeypatch):
    """The paths of the bound are right; those of the runs that are replayed are lied about."""
    real = witness.hidden
    monkeypatch.setattr(witness, "hidden", lambda one, *given: real(lying(lie, one), *given))
    assert LIES[lie] in confirmed(program).failure.words


def test_a_certificate_that_the_arithmetic_refuses_is_no_bound(monkeypatch):
    """The reason is told; no replay is needed for it."""
    turned = LinearShifts(((0, 0.0, ((0, 0.5),)),))

    def wrong(paths, real=witness.certified):
        made = real(paths)
        return structs.replace(
            made, patterns=tuple(structs.replace(one, up=turned, down=turned) for one in made.patterns)
        )

    monkeypatch.setattr(witness, "certified", wrong)
    found = confirmed(pick)
    assert found.failure.words.startswith("certificate: constraint 0 ")
    assert found.bound() is None


# ---------------------------------------------------------------- faults of the search


def confirmed(program):
    explored = bounded_programs.Program(program, (12, 2), (0.0, 1.0))
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
    real = comparing.above

    def wrong(left, right, *, strict):
        world = (left if terms.is_term(left) else right).world
        made, kept = real(left, right, strict=strict), [*world.seen]
        world.seen[:] = kept[:-1]
        return made

    patch.setattr(comparing, "above", wrong)
    patch.setattr(term_operators, "above", wrong)


def half_of_what_data_weigh(patch):
    """Weights of data are halved and their values put into the constant: nothing shows in a single run."""
    real = bounded_programs.Program.data

    def wrong(self, world, values):
        made = real(self, world, values)
        for term in made.data.flat:
            ((atom, weight),) = term.raw.items()
            term.raw = {atom: weight / 2}
            term.const += weight / 2 * atom.value
        return made

    patch.setattr(bounded_programs.Program, "data", wrong)


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


@pytest.mark.parametrize("program", programs.LEAKS, ids=lambda f: f.__name__)
def test_what_hides_has_no_bound_within_the_claim(program):
    """Broken variants: replays at typical data only; outputs that are not held against the traced ones."""
    explored = bounded_programs.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    assert found.epsilon() > 1.2


@pytest.mark.parametrize(
    ("where", "rule", "wrong", "program"),
    [
        (world, "_COARSE", 0.0, programs.cancelled_in_a_band),
        (boxes.Box, "settle_type", lambda box: None, programs.cut_by_a_list),
        (boxes, "of_first_type", boxes.wrapped, programs.cut_entry_by_entry),
        (array_protocol, "_of_truths", lambda *given: None, programs.truths_multiplied),
        (comparing, "_truth", lambda made: made, programs.truths_added),
        (enclosures, "is_like", lambda *given: True, programs.no_noise_in_a_gap),
        (enclosures, "chance_of", lambda *given: 0.5, programs.sign_in_a_gap),
        (leaves, "_MEETINGS", 1, programs.places_that_may_meet),
        (choosers.Coinciding, "order", lambda chooser, natural: natural, programs.places_of_orders),
        (world.World, "widely", lambda run, many: None, programs.weight_of_a_rare_share),
        (witness, "doubtful", lambda *given: [], programs.wrapped_in_a_band),
        (witness, "doubtful", lambda *given: [], programs.view_of_what_is_sorted),
        (language.Language, "weighs", lambda *given: False, programs.weight_with_a_peak),
        (language.Language, "weighs", lambda *given: False, programs.noise_with_a_dip),
        (language.Language, "steep", lambda *given: False, programs.scale_with_a_dip),
        (language.Language, "steep", lambda *given: False, programs.scale_without_a_limit),
        (draw_sources.DrawSource, "tosses", lambda source, coin: None, programs.coins_of_one_draw),
        (enclosures, "_is_fine", lambda *given: True, programs.law_on_a_coarse_grid),
        (enclosures, "_EDGE", np.inf, programs.law_with_a_jump),
        (comparing, "loose_of", lambda value: 0, programs.equal_by_rounding),
        (comparing, "loose_of", lambda value: 0, programs.equal_after_rounding),
        (comparing, "loose_of", lambda value: 0, programs.below_nought_by_rounding),
        (terms, "ROUNDS", 0.0, programs.floor_below_nought_by_rounding),
        (terms, "ROUNDS", 0.0, programs.whole_by_rounding),
    ],
)
def test_without_its_rule_a_leak_has_a_bound(where, rule, wrong, program, monkeypatch):
    """And without what ends most of these bounds, too: data looked for; of laws, how they are made."""
    monkeypatch.setattr(witness, "doubtful", lambda *given: [])
    if where is enclosures:
        monkeypatch.setattr(coverage.Coverage, "jumping", lambda *given: None)
    monkeypatch.setattr(where, rule, wrong)
    monkeypatch.setattr(enclosures, "_KNOWN", {})
    draw_sources.law_of.cache_clear()
    explored = bounded_programs.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    draw_sources.law_of.cache_clear()
    assert found.epsilon() <= 1.2


@pytest.mark.parametrize("program", programs.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_of_what_hides_keep_their_bound(program):
    explored = bounded_programs.Program(program, (24, 2), (0.0, 1.0))
    found = witness.confirmed(explored, 2, paths.explore(explored, 2, most=6), 0.0)
    assert found.words() == ""
    assert found.epsilon() <= 1 + 1e-9
