"""Upper bounds for users' code: right programs at their true cost, leaks never within the claim."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from tests.user_code import (
    arrays,
    bounded,
    coins,
    decisions,
    elsewhere,
    loops,
    mistaken,
    normals,
    overlooked,
    pieces,
    provers,
    samplings,
    seldom,
    styles,
    unbounded,
    verdicts,
    walks,
    widths,
)
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.evidence.blackbox.events import EventSetting, Observation, choose
from verifiable_dp.evidence.blackbox.statistics import ratio_p_value
from verifiable_dp.evidence.judge.arithmetic import cost, wrong
from verifiable_dp.evidence.judge.certificate import Frame
from verifiable_dp.evidence.judge.laws import epsilon_of
from verifiable_dp.evidence.symbolic import alignments, shifts
from verifiable_dp.evidence.symbolic.bounded_programs import PathFound, Program
from verifiable_dp.evidence.symbolic.choosers import Extreme
from verifiable_dp.evidence.symbolic.coverage import _ends
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.terms import Atom, Row, SymbolicDraw
from verifiable_dp.evidence.tracing.ledger import Place
from verifiable_dp.evidence.upper import UpperBound, evaluated
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.roles import GivenRole

# Right programs outside of the language of bounds (`evidence.judge.language`), with what ends the bound.
OUTSIDE = {
    bounded.lazy_ucb: "the number of turns of a loop depends on a draw",
    seldom.special_methods: "defines __len__, which Python calls by itself",
    seldom.more_noise_by_where: "how much noise there is",
    bounded.tree_of_sums: "takes an amount of data or noise that depends on a draw",
}


def inside(programs):
    return [one for one in programs if one not in OUTSIDE]


def found(function, *, n_arms=2, horizon=40, most=18) -> PathFound:
    return explore(Program(function, (horizon, n_arms), (0.0, 1.0)), n_arms, most=most)


@pytest.mark.parametrize(
    ("after", "ends"),
    [
        (["LOAD_FAST", "POP_TOP"], {20}),  # Python 3.11
        (["END_FOR", "LOAD_FAST", "POP_TOP"], {20, 22}),  # 3.12
        (["END_FOR", "POP_TOP", "LOAD_FAST"], {20, 22, 24}),  # 3.13
        (["END_FOR", "POP_ITER", "RETURN_CONST"], {20, 22, 24}),  # 3.14
    ],
)
def test_a_loop_has_ended_where_any_python_goes_on_after_it(after, ends):
    loop = SimpleNamespace(opname="FOR_ITER", offset=10, argval=20)
    steps = [loop, SimpleNamespace(opname="POP_TOP", offset=12)]
    steps += [SimpleNamespace(opname=name, offset=20 + 2 * n) for n, name in enumerate(after)]
    assert _ends(steps, loop) == ends
    branch = SimpleNamespace(opname="POP_JUMP_IF_TRUE", offset=10, argval=20)
    assert _ends([branch, *steps[1:]], branch) == {20}


@pytest.mark.parametrize("play", inside(bounded.RIGHT), ids=lambda f: f.__name__)
def test_right_programs_are_bounded_at_their_true_cost(play):
    got = found(play)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(bounded.RIGHT[play], rel=1e-9)


@pytest.mark.parametrize("play", OUTSIDE, ids=lambda f: f.__name__)
def test_right_programs_outside_of_the_language_are_told_where(play):
    got = found(play, horizon=24, most=14)
    assert OUTSIDE[play] in got.failure
    assert got.at.line > 0


def functions_of(module):
    return [
        f
        for name, f in vars(module).items()
        if getattr(f, "__module__", "") == module.__name__ and name[0] != "_"
    ]


LOOPS = functions_of(loops)
RARE = [f for f in LOOPS if f.__name__.startswith("rare_")]


@pytest.mark.parametrize("play", [f for f in LOOPS if f not in RARE], ids=lambda f: f.__name__)
def test_a_loop_need_not_be_skipped_where_no_draw_decides_that(play):
    got = found(play, n_arms=4)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0, rel=1e-9))


@pytest.mark.parametrize("play", RARE, ids=lambda f: f.__name__)
def test_a_loop_that_seldom_goes_another_way_ends_the_bound(play):
    got = found(play)
    assert got.failure == "a branch that no traced run takes both ways" or got.epsilon() > 1000


@pytest.mark.parametrize("play", inside(seldom.RIGHT), ids=lambda f: f.__name__)
def test_a_branch_that_no_run_takes_is_turned_about(play):
    got = found(play, horizon=24, most=8)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(seldom.RIGHT[play], rel=1e-9))


@pytest.mark.parametrize("play", verdicts.UNFOLLOWED, ids=lambda f: f.__name__)
def test_the_last_of_all_states_is_not_known_to_be_the_last(play):
    assert found(play, horizon=24, most=14).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", mistaken.LEAKS, ids=lambda f: f.__name__)
def test_no_leak_is_mistaken_for_other_code(play):
    assert found(play, horizon=24, most=14).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", inside(widths.RIGHT), ids=lambda f: f.__name__)
def test_a_loop_that_is_always_entered_need_not_be_skipped(play):
    got = found(play, horizon=24, most=8)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(widths.RIGHT[play], rel=1e-9))


@pytest.mark.parametrize("play", widths.LEAKS, ids=lambda f: f.__name__)
def test_a_loop_that_is_seldom_skipped_counts(play):
    assert found(play, horizon=24, most=8).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", seldom.LEAKS, ids=lambda f: f.__name__)
def test_what_stands_behind_a_branch_that_is_seldom_taken_counts(play):
    assert found(play, most=14).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", arrays.RIGHT, ids=lambda f: f.__name__)
def test_sums_are_followed_whatever_makes_them(play):
    got = found(play, horizon=15, most=4)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(arrays.RIGHT[play], rel=1e-9))


@pytest.mark.parametrize(
    "play",
    [
        pytest.param(f, marks=pytest.mark.slow if f.__name__.endswith("_by_half") else (), id=f.__name__)
        for f in arrays.LEAKS
    ],
)
def test_what_moves_a_sum_more_than_once_counts_as_often(play):
    assert found(play, horizon=15, most=4).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", functions_of(overlooked), ids=lambda f: f.__name__)
def test_no_premise_of_a_bound_is_taken_for_granted(play):
    assert found(play).epsilon() > 1 + 1e-3


def test_what_a_program_returns_in_a_sequence_of_its_own_is_looked_at():
    got = found(lambda rewards, rng: deque(int(r > 0.5) for r in rewards[:, 0]))
    assert got.words().endswith("raw rewards are returned")


@pytest.mark.parametrize("play", functions_of(elsewhere), ids=lambda f: f.__name__)
def test_generators_of_numpy_hide_what_nobody_can_compute(play):
    epsilon = found(play).epsilon()
    assert epsilon > 1 + 1e-3 if play.__name__.startswith("leak_") else epsilon == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("play", unbounded.LEAKS, ids=lambda f: f.__name__)
def test_no_leak_is_bounded_within_the_claim(play):
    assert found(play, horizon=24, most=10).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", samplings.RIGHT, ids=lambda f: f.__name__)
def test_right_ways_to_sample_are_bounded_at_their_true_cost(play):
    got = found(play, horizon=24, most=14)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(samplings.RIGHT[play], rel=1e-9)


@pytest.mark.parametrize("play", samplings.LEAKS, ids=lambda f: f.__name__)
def test_no_leaking_twin_is_bounded_within_the_claim(play):
    assert found(play, horizon=24, most=14).epsilon() > 1 + 1e-3


@pytest.mark.parametrize("play", inside(pieces.RIGHT), ids=lambda f: f.__name__)
def test_what_is_asked_in_one_piece_costs_what_it_tells(play):
    got = found(play, n_arms=3, horizon=24, most=14)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(pieces.RIGHT[play], rel=1e-9)


@pytest.mark.parametrize("play", pieces.LEAKS, ids=lambda f: f.__name__)
def test_no_leak_is_bounded_within_the_claim_as_it_is_asked_in_one_piece(play):
    # At 27 rounds all entries of a dictionary come in the order that traced runs have them in.
    assert found(play, n_arms=3, horizon=27, most=8).epsilon() > 1 + 1e-3


DECIDING = {one: cost for one, cost in {**decisions.RIGHT, **walks.RIGHT}.items() if one not in OUTSIDE}
# Others like them, and all of them on more paths, are slow tests.
_OFTEN = {
    *(
        decisions.clipped_rewards_of_random_arms,
        decisions.rejection_twice,
        decisions.flip_of_a_list,
        decisions.flip_in_an_order_of_pythons,
        decisions.flip_in_an_order_of_an_array,
        decisions.long_sparse_vector,
        decisions.largest_excess,
        decisions.threshold_by_its_inverse,
        decisions.shares_on_a_heap,
        decisions.patience_from_a_drawn_arm,
    ),
    *(walks.by_added_chances, walks.by_bisect, walks.by_choices_of_sums, walks.by_the_largest_key),
    *(decisions.determinant, decisions.squares, decisions.student, decisions.of_a_state),
}


@pytest.mark.parametrize("play", coins.RIGHT, ids=lambda f: f.__name__)
def test_noise_made_with_coins_is_bounded_at_its_true_cost(play):
    got = found(play, horizon=16, most=9)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(coins.RIGHT[play], rel=1e-9)


@pytest.mark.parametrize("play", coins.LEAKS, ids=lambda f: f.__name__)
def test_no_leak_with_coins_is_bounded_within_the_claim(play):
    assert not found(play, horizon=16, most=9).epsilon() <= coins.EPSILON + 1e-9


def rarely(plays, often):
    """Parameters of a test, those that are not in `often` as slow ones."""
    return [pytest.param(f, marks=() if f in often else pytest.mark.slow, id=f.__name__) for f in plays]


@pytest.mark.parametrize("play", rarely(DECIDING, _OFTEN))
def test_right_decisions_are_bounded_at_their_true_cost(play):
    got = found(play, n_arms=getattr(play, "n_arms", 2), most=8)
    assert got.words() == ""
    assert got.epsilon() == pytest.approx(DECIDING[play], rel=1e-9)


_LIKE_OTHERS = {
    *walks.LEAKS[1 : len(walks.WALKS)],
    *(decisions.alias_with_a_favourite, decisions.alias_filled_too_early, decisions.every_crossing_told),
}


@pytest.mark.parametrize(
    "play", rarely(leaking := [*decisions.LEAKS, *walks.LEAKS], {*leaking} - _LIKE_OTHERS)
)
def test_no_leaking_decision_is_bounded_within_the_claim(play):
    assert found(play, n_arms=getattr(play, "n_arms", 2), horizon=30, most=6).epsilon() > 1 + 1e-3


def shared_noise(rows):
    """For the judge, with what unit 0 moves."""
    index = {draw: i for i, draw in enumerate({draw: 0 for row in rows for draw in row.noise})}
    noise = tuple((row.relation, tuple((index[d], w) for d, w in row.noise.items())) for row in rows)
    frame = Frame(tuple(("laplace", 0.0) for _ in index), noise)
    return shifts.FrameNoise(frame), tuple(entry for _, entry in alignments._entries(rows)[0])


def cheapest(noise, entries, proposals):
    """What the judge asks for the cheapest of some proposals, for a change up and for one down."""
    found = []
    for way in (entries, tuple(one.turned() for one in entries)):
        made = list(proposals(noise, way))
        assert all(wrong(noise.frame, way, one) == "" for one in made)
        found.append(min(cost(noise.frame, way, one, noise.price).loss for one in made))
    return found


def test_one_shared_draw_costs_no_less_than_the_best_shift():
    rng = np.random.default_rng(5)
    for _ in range(40):
        shared, *own = [SymbolicDraw("laplace", 0.0) for _ in range(5)]
        reward = Atom(0.5, 0.0, 1.0, lambda: {0: (-1.0, 1.0)})
        rows = [
            Row(
                Place("", 0),
                "=" if rng.random() < 0.2 else ">",
                {reward: float(rng.normal())},
                {shared: float(rng.choice([-0.5, 1.0])), draw: float(1 + rng.random())},
            )
            for draw in own
        ]
        noise, entries = shared_noise(rows)
        closed, best = (
            cheapest(noise, entries, bound) for bound in (shifts._of_one_draw, shifts._programmed)
        )
        # Nothing but the shared draw stands in more than one row, so that no other shift is cheaper.
        assert closed == pytest.approx(best, rel=1e-9)


def test_rows_that_move_at_will_cost_no_less():
    rng = np.random.default_rng(6)
    for _ in range(40):
        shared, *own = [SymbolicDraw("laplace", 0.0) for _ in range(6)]
        # One unit moves every row by a number of its own, all of them the same way.
        atoms = [Atom(0.5, 0.0, 1.0, lambda: {0: (0.0, 1.0)}) for _ in own]
        rows = [
            Row(Place("", 0), "=" if rng.random() < 0.2 else ">", {atom: 1.0}, {shared: -1.0, draw: 1.0})
            for atom, draw in zip(atoms, own, strict=True)
        ]
        noise, entries = shared_noise(rows)
        prices = [shifts._own_draws(noise, row) for row in range(len(rows))]

        def for_all(noise, entries, prices=prices):
            return shifts._for_all(noise, 0, noise.matrix[:, 0], prices, entries)

        ends, corners = (cheapest(noise, entries, bound) for bound in (for_all, shifts._of_one_draw))
        assert all(end >= corner - 1e-9 for end, corner in zip(ends, corners, strict=True))
        if not any(row.relation == "=" for row in rows):
            assert ends == pytest.approx(corners, rel=1e-9)


@pytest.mark.parametrize(
    "play",
    [*samplings.UNFOLLOWED, *decisions.UNFOLLOWED, *coins.UNFOLLOWED],
    ids=lambda f: f.__name__,
)
def test_what_is_not_followed_has_no_bound(play):
    assert math.isinf(found(play, horizon=24, most=4).epsilon())


def test_many_runs_in_a_call_are_bounded_by_one_of_them():
    inputs = Inputs(2, 24, (0.0, 1.0))
    bound, *_ = traced.bound(samplings.many, "many", inputs, 0.0, many=traced.CallSizes())
    assert bound.epsilon == pytest.approx(1.0)
    assert bound.premises[-1].id == "runs-alike"
    assert traced.bound(samplings.many_half, "many", inputs, 0.0, many=traced.CallSizes())[
        0
    ].epsilon == pytest.approx(2.0)
    leak, why, _ = traced.bound(
        samplings.many_with_a_raw_tie_break, "many", inputs, 0.0, many=traced.CallSizes()
    )
    assert leak is None
    assert "raw rewards decide which position is chosen" in why.what


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("play", [*unbounded.LEAKS, *styles.LEAKS], ids=lambda f: f.__name__)
def test_no_leak_is_bounded_within_the_claim_on_any_path(play, n_arms):
    if n_arms == 3 and play in (unbounded.same_uniform_twice, unbounded.one_uniform_for_all):
        pytest.skip("made for two arms")
    assert found(play, n_arms=n_arms, horizon=90, most=60).epsilon() > 1 + 1e-3


def answered(function, moves) -> PathFound:
    """Paths of a program that answers five queries."""
    units = {i: [(i if moves == provers.ONE else 0, -1.0, 1.0)] for i in range(5)}
    return explore(Program(function, (5,), (-math.inf, math.inf), units), 5, most=24)


@pytest.mark.parametrize("function", provers.RIGHT, ids=lambda f: f.__name__)
def test_right_programs_of_the_provers_are_bounded(function):
    moves, epsilon = provers.RIGHT[function]
    assert answered(function, moves).epsilon() == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("function", provers.WRONG, ids=lambda f: f.__name__)
def test_bad_programs_of_the_provers_are_not_bounded_within_the_claim(function):
    assert answered(function, provers.WRONG[function]).epsilon() > 1 + 1e-3


def _answers(function, queries, runs, rng):
    """What an adversary sees of some runs."""
    told = np.array([np.atleast_1d(function(np.array(queries), rng)) for _ in range(runs)], np.float64)
    whole = np.where(told == np.rint(told), told, -7).astype(np.int64)
    columns = {f"output {j + 1}": column for j, column in enumerate(told.T)}
    return Observation(runs, {"all answers": whole @ 11 ** np.arange(told.shape[1])}, columns)


_QUICK = (provers.bad_partial_sum, provers.bad_sparse_vector_1)


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, marks=() if f in _QUICK else pytest.mark.slow, id=f.__name__) for f in provers.WORST],
)
def test_bad_programs_of_the_provers_are_refuted(function):
    rng, runs = np.random.default_rng(0), 4000 if function in _QUICK else 60_000
    seen = [_answers(function, queries, runs // 4, rng) for queries in provers.WORST[function]]
    event = choose(*seen, EventSetting(runs, level=1e-6, boosted=False))
    hits = [event.hits(_answers(function, queries, runs, rng)) for queries in provers.WORST[function]]
    assert ratio_p_value(*(hits[::-1] if event.flipped else hits), provers.EPSILON) < 1e-6


def test_every_bad_program_of_the_provers_has_neighbours():
    assert provers.WORST.keys() == provers.WRONG.keys()
    for left, right in provers.WORST.values():
        assert max(abs(x - y) for x, y in zip(left, right, strict=True)) == 1


def test_normal_noise_on_a_sum_costs_what_the_gaussian_mechanism_costs():
    delta = 1e-6
    got = answered(provers.sum_gaussian, provers.ONE)
    assert got.epsilon(delta) == pytest.approx(epsilon_of(0.0, provers.SIGMA**-2, delta), rel=1e-9)
    assert math.isinf(answered(provers.noisy_max_gaussian, provers.ALL).epsilon(0.0))


def test_the_bound_carries_a_certificate_that_gives_it_again():
    made = found(bounded.follow_the_noisy_leader, most=12)
    bound = made.bound()
    assert isinstance(bound, UpperBound)
    assert bound.scope == "every path"
    assert bound.paths == len(made.paths) > 12 + Extreme.WAYS
    assert evaluated(bound.certificate, 0.0) == pytest.approx(1.0)


def test_what_a_dataclass_asks_of_its_fields_is_no_branch():
    got = found(taken(bounded.WithFactories, GivenRole())[1])
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


def test_why_there_is_no_bound_names_the_line():
    words = found(unbounded.raw_tie_break).words()
    lines = Path(unbounded.__file__).read_text(encoding="utf-8").splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "max(best, key=lambda arm: sums[arm])" in text)
    assert words == f"{unbounded.__file__}:{line}: raw rewards decide which position is chosen"


def _gaussian(sigma, normals):
    def play(rewards, rng):
        noisy = rewards[:20].sum(axis=0) + sigma * normals(rng)
        return [0] * 20 + [int(np.argmax(noisy))] * 20

    return play


@pytest.mark.parametrize("normals", normals.MAKERS, ids=lambda f: f.__name__)
def test_normal_noise_costs_what_the_gaussian_mechanism_costs(normals):
    delta, sigma = 1e-5, 4.2
    # The position of the larger one tells of the difference alone, whose noise is larger by sqrt(2).
    mu = 1 / (math.sqrt(2) * sigma)
    epsilon = epsilon_of(0.0, mu**2, delta)
    # The profile of the Gaussian mechanism (Balle & Wang 2018, theorem 5).
    profile = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert profile == pytest.approx(delta, rel=1e-6)
    got = found(_gaussian(sigma, normals), most=4)
    assert got.epsilon(delta) == pytest.approx(epsilon, rel=1e-9)
    assert math.isinf(got.epsilon(0.0))
    assert found(_gaussian(sigma / 2, normals), most=4).epsilon(delta) > 1.9 * epsilon


@pytest.mark.parametrize("normals", normals.WRONG, ids=lambda f: f.__name__)
def test_what_are_no_two_normal_numbers_have_no_bound(normals):
    assert math.isinf(found(_gaussian(4.2, normals), most=4).epsilon(1e-5))


@pytest.mark.parametrize("normals", normals.MAKERS, ids=lambda f: f.__name__)
def test_normal_noise_has_no_bound_where_all_of_it_is_told(normals):
    def play(rewards, rng):
        pair = normals(rng)
        noisy = rewards[:20].sum(axis=0) + 4.2 * pair
        return [0] * 20 + [int(np.argmax(noisy))] * 18 + [int(pair[0] > 1), int(pair[1] > 1)]

    assert math.isinf(found(play, most=4).epsilon(1e-5))


def _late(chance):
    def play(rewards, rng):
        arms = [0] * 40
        if rng.random() < chance:
            arms[-1] = int(rewards[0, 0] + rng.laplace(0, 0.1) > 0.5)
        return arms

    return play


@pytest.mark.parametrize("chance", [0.5, 0.01, 1e-9])
def test_branches_behind_coins_are_looked_at_or_end_the_bound(chance):
    assert found(_late(chance)).epsilon() > 1
