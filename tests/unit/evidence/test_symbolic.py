"""Upper bounds for users' code: right programs at their true cost, leaks never within the claim."""

from __future__ import annotations

import ast
import heapq
import itertools
import math
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy.stats import norm

import verifiable_dp as vdp
from tests.user_code import (
    arrays,
    bounded,
    coins,
    crowds,
    decisions,
    elsewhere,
    frames,
    identities,
    inverses,
    loops,
    mistaken,
    noted,
    overlooked,
    pieces,
    provers,
    rare,
    samplings,
    seldom,
    styles,
    subsampled,
    unbounded,
    verdicts,
    walks,
)
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.plans import sizes_of
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.auditing.traced import bound
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.filled import note_placed, noting
from verifiable_dp.evidence.blackbox.events import EventSetting, Observation, choose
from verifiable_dp.evidence.blackbox.statistics import ratio_p_value
from verifiable_dp.evidence.judge.arithmetic import cost, wrong
from verifiable_dp.evidence.judge.certificate import Frame
from verifiable_dp.evidence.judge.laws import epsilon_of
from verifiable_dp.evidence.symbolic import alignments, box_memory, elementary, shifts, source, users
from verifiable_dp.evidence.symbolic.atoms import Atom, Row, SymbolicDraw
from verifiable_dp.evidence.symbolic.bounded_programs import PathFound, Program
from verifiable_dp.evidence.symbolic.choosers import Extreme
from verifiable_dp.evidence.symbolic.coverage import Coverage, _ends
from verifiable_dp.evidence.symbolic.paths import WorkMeter, _explored, explore
from verifiable_dp.evidence.symbolic.terms import ROUNDS, Term
from verifiable_dp.evidence.tracing.ledger import Place
from verifiable_dp.evidence.tracing.reach import scopes_of
from verifiable_dp.evidence.upper import UpperBound, evaluated
from verifiable_dp.targets.adapters import BanditClass, contextual, taken
from verifiable_dp.targets.roles import GivenRole

# Right programs outside of the language of bounds (`evidence.judge.language`), with what ends the bound.
OUTSIDE = {
    bounded.lazy_ucb: "the number of iterations of a loop may depend on a random draw",
    seldom.special_methods: "defines __len__, which Python calls implicitly",
    seldom.more_noise_by_where: "the amount of noise",
    bounded.tree_of_sums: "the number of iterations of a loop may depend on a random draw",
    bounded.rejection: "the amount of noise, or the weight of the data, may depend on a random draw",
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
    assert got.failure == "no traced runs take both sides of this branch" or got.epsilon() > 1000


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


@pytest.mark.parametrize("play", inside(verdicts.RIGHT), ids=lambda f: f.__name__)
def test_a_loop_that_is_always_entered_need_not_be_skipped(play):
    got = found(play, horizon=24, most=8)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(verdicts.RIGHT[play], rel=1e-9))


@pytest.mark.parametrize("play", verdicts.LEAKS, ids=lambda f: f.__name__)
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
    assert "the code returns deque" in got.words()


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


@pytest.mark.parametrize("normals", inverses.MAKERS, ids=lambda f: f.__name__)
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


@pytest.mark.parametrize("normals", inverses.NO_TWO, ids=lambda f: f.__name__)
def test_what_are_no_two_normal_numbers_have_no_bound(normals):
    assert math.isinf(found(_gaussian(4.2, normals), most=4).epsilon(1e-5))


@pytest.mark.parametrize("normals", inverses.MAKERS, ids=lambda f: f.__name__)
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


# What a search for a bound takes: public arithmetic is NumPy's own; it gives up by operations.


def beside_arrays(rewards, rng):
    """Trains a public model in every round."""
    horizon, n_arms = rewards.shape
    half, sums = horizon // 2, np.zeros(n_arms)
    table = np.ones((60, 60))
    for t in range(half):
        weights = np.zeros(60)
        for _ in range(4):
            weights = weights - 0.001 * (table @ weights - 1)
        sums[t % n_arms] += rewards[t, t % n_arms]
    winner = int(np.argmax(sums + rng.laplace(0, 1.0, n_arms)))
    return np.r_[np.arange(half) % n_arms, np.full(horizon - half, winner)]


def by_events(rewards, rng):
    """Adds each reward when it arrives."""
    horizon, n_arms = rewards.shape
    half, events, sums = horizon // 2, [], [0.0] * n_arms
    for t in range(half):
        heapq.heappush(events, (t + 3 * (t % 5) + t / 1000, t % n_arms, rewards[t, t % n_arms]))
    while events:
        _, arm, reward = heapq.heappop(events)
        sums[arm] += reward
    winner = int(np.argmax([s + rng.laplace(0, 1.0) for s in sums]))
    return np.r_[np.arange(half) % n_arms, np.full(horizon - half, winner)]


def test_arrays_without_tracked_entries_are_not_made_of_objects():
    """Broken variant: `wrapped` that makes objects of every array."""
    real = box_memory.BoxMemory.as_objects
    with mock.patch.object(box_memory.BoxMemory, "as_objects", autospec=True, side_effect=real) as asked:
        found = explore(Program(beside_arrays, (20, 2), (0.0, 1.0)), 2, most=4)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(1.0))
    # Such as the sums, into which rewards are written; never the table or its products.
    assert max(call.args[1].size for call in asked.call_args_list) < 60


@pytest.mark.parametrize("play", [beside_arrays, by_events])
def test_the_search_gives_up_after_as_many_operations_as_it_may_take(play):
    program = Program(play, (40, 2), (0.0, 1.0))
    meter = WorkMeter()
    scopes = scopes_of(play)
    with noting() as filled:
        note_placed(play, "data", "generator")
    found = _explored(program, 2, 20, meter, scopes, Coverage(frozenset(scopes), filled=filled))
    assert (found.words(), found.epsilon()) == ("", pytest.approx(1.0))
    again = WorkMeter(meter.spent / 2)
    less = _explored(program, 2, 20, again, scopes, Coverage(frozenset(scopes), filled=filled))
    assert less.words() == f"we gave up after {again.most:,.0f} operations"
    assert 0 < len(less.paths) < len(found.paths)
    # By as much as one run goes beyond it, and the same each time.
    assert again.most < again.spent < again.most + 2 * meter.spent / len(found.paths)
    assert explore(program, 2, 20, work=meter.spent / 2).paths[-1].number == less.paths[-1].number


def test_a_budget_of_an_audit_bounds_the_operations():
    assert sizes_of("smoke").operations < sizes_of("quick").operations < sizes_of("standard").operations


# Secret samples are amplified in the forms in which users write them, and only where they stay secret.


def _explored_of_samples(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=10)


@pytest.mark.parametrize("play", subsampled.RIGHT.values(), ids=subsampled.RIGHT)
def test_a_secret_sample_costs_less_than_its_noise(play):
    found = _explored_of_samples(play)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(subsampled.EPSILON))


@pytest.mark.parametrize("play", subsampled.WRONG.values(), ids=subsampled.WRONG)
def test_a_sample_that_is_seen_or_used_twice_costs_more(play):
    assert _explored_of_samples(play).epsilon() > 1.2 * subsampled.EPSILON


# Bounds of bandits that keep their rewards in pandas.


def _explored_of_frames(play):
    return explore(Program(play, (16, 2), (0.0, 1.0)), 2, most=6)


RIGHT = {name: play for name, play in frames.RIGHT.items() if name != "located"}


def test_rows_that_a_mask_locates_have_no_bound():
    """Outside of the language: a mask of a column of what data stand in counts as drawn."""
    assert "reads data or noise from a table" in _explored_of_frames(frames.RIGHT["located"]).failure


@pytest.mark.parametrize("play", RIGHT.values(), ids=RIGHT)
def test_sums_of_columns_cost_what_their_noise_hides(play):
    found = _explored_of_frames(play)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(frames.EPSILON))


@pytest.mark.parametrize("play", frames.WRONG.values(), ids=frames.WRONG)
def test_frames_that_leak_have_no_bound_within_the_claim(play):
    assert _explored_of_frames(play).epsilon() >= 2 * frames.EPSILON * (1 - 1e-9)


# Questions that ask no method of data or noise: they end the bound, or are answered truthfully.


def found_of_identity(function, *, most=14) -> PathFound:
    return explore(Program(function, (20, 2), (0.0, 1.0)), 2, most=most)


@pytest.mark.parametrize("name", identities.LEAKS)
def test_a_number_is_not_told_by_identity_or_type(name):
    """Broken variants: `calls.identical`, `asked` or `World.claims` answering as Python does."""
    got = found_of_identity(identities.LEAKS[name], most=2)
    assert got.failure, f"bound {got.epsilon()} of a program that leaks"


def test_code_that_could_not_be_rewritten_is_told_of_where_it_is_called():
    """Before anything that it asks is answered. Broken variant: no instruction is barred."""
    assert (
        "we cannot rewrite" in found_of_identity(identities.LEAKS["held_where_nothing_leads"], most=2).failure
    )


@pytest.mark.parametrize("play", identities.RIGHT, ids=lambda f: f.__name__)
def test_questions_about_public_things_end_no_bound(play):
    got = found_of_identity(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


# Noise that is small only where public chance comes out as it hardly ever does.


WORDS = (
    "the amount of noise, or the weight of the data, may depend on a random draw",
    "the number of iterations of a loop may depend on a random draw",
    "reads an amount of data or noise that may depend on a random draw",
    *(
        f"gives {name} data or noise, together with a number that may take a special value in rare draws"
        for name in ("max", "min", "clip")
    ),
)


def found_of_rare(function):
    return explore(Program(function, (40, 2), (0.0, 1.0)), 2, most=14)


@pytest.mark.parametrize("play", rare.FOUND, ids=lambda f: f.__name__)
def test_the_leaks_that_an_attack_came_up_with_have_no_bound_within_the_claim(play):
    assert found_of_rare(play).epsilon() > 100


@pytest.mark.parametrize("play", rare.LEAKS + rare.OWN, ids=lambda f: f.__name__)
def test_noise_that_rare_outcomes_may_set_has_no_bound(play):
    got = found_of_rare(play)
    assert (got.failure in WORDS, got.at.line > 0) == (True, True)


def test_coins_in_a_loop_that_is_no_function_have_no_bound():
    assert found_of_rare(rare.coins_in_a_loop).failure


@pytest.mark.parametrize("play", rare.ENDS, ids=lambda f: f.__name__)
def test_public_draws_that_are_all_alike_are_looked_at(play):
    assert found_of_rare(play).epsilon() > 999


@pytest.mark.parametrize("play", rare.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_keep_their_bound(play, request):
    if play in rare.SUMS:
        request.applymarker(pytest.mark.xfail(strict=True, reason="a sum of draws may set no scale"))
    got = found_of_rare(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))


# Upper bounds for code that is told contexts: what one user moves at most, over all contexts in a ball.


DELTA = 1e-5


def found_of_contexts(target, norm=2.0, horizon=2, **promise):
    """The upper bound under joint privacy, or why there is none; d = 2, two arms."""
    function = contextual(target, Contexts(2, (2, 2), norm))[1]
    inputs = Inputs(2, horizon, (0.0, 1.0), contexts=(2, 2), context_norm=norm)
    made, why, _ = bound(function, target.__name__, inputs, DELTA, Promise(**{"model": "joint", **promise}))
    return why.what if made is None else made.epsilon


def test_noisy_sums_of_clipped_contexts_cost_their_claim():
    assert found_of_contexts(crowds.laplace) == pytest.approx(1.0)


def test_contexts_that_are_not_clipped_cost_more_where_they_may_be_longer():
    """The Gram matrix four times as much, the vector twice."""
    assert found_of_contexts(crowds.unclipped) == pytest.approx(0.5 * 4 + 0.5 * 2)


@pytest.mark.slow
def test_normal_noise_costs_the_distance_of_matrices():
    """|xx' - yy'|^2 <= 2 and |rx - sy|^2 <= 4 over a variance of 64; 16 and 4 times that without clipping."""
    assert found_of_contexts(crowds.gaussian) == pytest.approx(epsilon_of(0.0, (2 + 4) / 64, DELTA))
    expected = epsilon_of(0.0, (2 * 16 + 4 * 4) / 64, DELTA)
    assert found_of_contexts(crowds.unclipped_gaussian) == pytest.approx(expected)


@pytest.mark.parametrize("leak", [crowds.bare_gram, crowds.leaves])
def test_sums_without_noise_have_no_bound(leak):
    assert "raw rewards changes" in found_of_contexts(leak, horizon=3)


def test_what_another_user_brought_decides_nothing():
    assert "raw rewards decide which position is chosen" in found_of_contexts(crowds.follower)


def test_plain_privacy_has_no_bound_where_users_choose_by_what_they_bring():
    assert "raw rewards decide which position is chosen" in found_of_contexts(crowds.laplace, model="central")


def test_rewards_alone_cost_less():
    """r x moves by |x| <= 1 instead of by 2."""
    assert found_of_contexts(crowds.fixed_arm, protects="reward") == pytest.approx(0.25)
    assert found_of_contexts(crowds.fixed_arm) == pytest.approx(0.5)


@pytest.mark.slow
def test_trees_cost_their_depth():
    """Of five users the first stands in three nodes that are used."""
    assert found_of_contexts(crowds.tree, horizon=5) == pytest.approx(1.0)
    assert found_of_contexts(crowds.shallow, horizon=5) == pytest.approx(3.0)


@pytest.mark.slow
def test_an_audit_of_noisy_sums_ends_with_the_bound():
    report = vdp.audit(
        crowds.laplace,
        contexts="2x2",
        context_norm=2,
        model="joint",
        epsilon=1,
        n_arms=2,
        horizon=3,
        budget="smoke",
        in_process=True,
    )
    assert report.verdict == "not_refuted"
    assert report.epsilon_upper == pytest.approx(1.0)


def drawn(rng, size, radius):
    x = rng.standard_normal(size)
    return x * radius * rng.random() ** 0.3 / np.linalg.norm(x)


@pytest.mark.parametrize("seed", range(6))
def test_no_two_users_differ_by_more_than_is_charged(seed):
    """Weighted sums and squares of all products, for random weights and the best of many pairs of users."""
    rng = np.random.default_rng(seed)
    d, radius = 3, 1.5
    owner, reward = users.Vector(0, radius, d), users.Number(0, 2.0, 1.0)
    x = [Atom(0.0, -radius, radius, lambda: {0: (-2 * radius, 2 * radius)}, of=owner) for _ in range(d)]
    r = Atom(0.0, -1.0, 1.0, lambda: {0: (-2.0, 2.0)}, of=reward)
    pairs = [*itertools.combinations_with_replacement([*x, r], 2)]
    products = [Atom(0.0, -9, 9, lambda: {0: (-9.0, 9.0)}, factors=pair) for pair in pairs]
    weights = rng.random(len(products) + d + 1)
    for normal in (False, True):
        releases = [
            users.UserRelease({a: w}, normal) for a, w in zip([*products, *x, r], weights, strict=True)
        ]
        charged = users.paid(releases)[0][normal]
        most = 0.0
        for _ in range(400):
            moved = [brought(rng, d, radius, seed % 2) for _ in range(2)]
            change = abs(moved[0] - moved[1]) * weights
            most = max(most, float((change**2).sum() if normal else change.sum()))
        assert most <= charged
        assert charged < 12 * most  # it is no idle bound


def brought(rng, d, radius, far):
    """All products and entries of one user, in the order of the atoms above."""
    x = drawn(rng, d, radius)
    x = radius * np.sign(x) / d**0.5 if far else x
    r = rng.choice([-1.0, 1.0])
    values = [*x, r]
    products = [a * b for a, b in itertools.combinations_with_replacement(values, 2)]
    return np.array([*products, *values])


# Where conditions, functions and handlers of users' code stand.


TEXT = """
def decorated(x):
    if x > 1:
        return 1
    return 2

def plain(x):
    return 3 if x > 2 else 4
"""


def test_a_function_is_found_by_its_code(tmp_path):
    """Broken variant: by its name alone."""
    path, scope = tmp_path / "own.py", {}
    path.write_text(TEXT + "\n\n" + TEXT)
    exec(compile(path.read_text(), str(path), "exec"), scope)
    node = source.body_of(scope["plain"].__code__)
    assert (node.name, node.lineno) == ("plain", scope["plain"].__code__.co_firstlineno)
    assert node.lineno > 10
    assert source.body_of(compile("1", str(tmp_path / "none.py"), "exec")) is None


def test_what_a_condition_decides_is_found_by_a_part_of_it(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(TEXT)
    tree = source.tree_of(str(path))
    (branch,) = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    (choice,) = (node for node in ast.walk(tree) if isinstance(node, ast.IfExp))
    for node, other in ((branch, choice), (choice, branch)):
        found = source.around(str(path), frozenset([source.where(node.test.comparators[0])]))
        assert found == {source.where(node)} != {source.where(other)}


def test_a_file_that_is_no_python_has_no_tree(tmp_path):
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert source.tree_of(str(tmp_path / "broken.py")) is None


# Numbers that stand for others: how far they may lie, and what rounding adds to that.


WORLD = SimpleNamespace(count=lambda: None)
ENDS = {"reward": (0.0, 1.0), "loss": (-2.0, 0.0)}


class Entry:
    """What a number is a multiple of."""

    def __init__(self, name):
        self.low, self.high = ENDS[name]


@pytest.mark.parametrize(
    ("const", "raw", "loose", "edges"),
    [
        (0.0, {"reward": 3.0}, 0, (0.0, 3.0)),
        (1.0, {"reward": 3.0}, 0, (1.0, 4.0)),
        (1.0, {"reward": -3.0}, 0, (-2.0, 1.0)),
        (0.0, {"reward": 1.0, "loss": -2.0}, 0, (0.0, 5.0)),
        (0.0, {"reward": 0.0, "loss": 1.0}, 0, (-2.0, 0.0)),
        # to add up numbers of one sign, rounded, does not change it
        (0.0, {"reward": 3.0}, 1, (0.0, 3.0 + 3 * ROUNDS)),
        (0.0, {"reward": -3.0}, 1, (-3.0 - 3 * ROUNDS, 0.0)),
        (0.0, {"reward": 0.5}, 1, (0.0, 0.5 + ROUNDS)),  # from 1 on rounding grows with the number
        # but a constant may cancel, and numbers that have cancelled may have any sign
        (3.0, {"reward": -3.0}, 1, (-3 * ROUNDS, 3.0 + 3 * ROUNDS)),
        (-3.0, {"reward": 3.0}, 1, (-3.0 - 3 * ROUNDS, 3 * ROUNDS)),
        (0.0, {"reward": 3.0}, 2, (-3 * ROUNDS, 3.0 + 3 * ROUNDS)),
        (0.0, {"reward": -3.0}, 2, (-3.0 - 3 * ROUNDS, 3 * ROUNDS)),
        (0.0, {"reward": 1.0, "loss": 1.0}, 1, (-2.0 - 2 * ROUNDS, 1.0 + 2 * ROUNDS)),
    ],
)
def test_the_edges_of_a_number(const, raw, loose, edges):
    term = Term(WORLD, const, {Entry(name): weight for name, weight in raw.items()}, {})
    term.loose = loose
    assert term.edges() == pytest.approx(edges, rel=1e-12, abs=0)


@pytest.mark.parametrize("exponent", [1, 1.0])
def test_the_first_power_is_the_number(exponent):
    """Broken variant: a power of data or noise is asked of the number itself, without end."""
    term = Term(WORLD, 1.0, {Entry("reward"): 3.0}, {})
    assert elementary.power(term, exponent) is term


@pytest.mark.parametrize("seldom", [noted.a_noted_list, noted.a_noted_arm, noted.plainly])
def test_what_holds_more_than_numbers_ends_the_bound(seldom):
    """Of a path that runs take once in a trillion no sample tells. Broken variant: only its numbers are seen.

    Control: the same path with plain arms.
    """

    def play(rewards, rng):
        return noted.right_but_for_what_is_seldom(rewards, rng, seldom)

    done = explore(Program(play, (4, 2), (0.0, 1.0)), 2, most=18)
    assert ("which can tell a reader more" in str(done.failure)) == (seldom is not noted.plainly)
    assert bool(done.failure) == (seldom is not noted.plainly)


@pytest.mark.parametrize("maker", [noted.SeldomNoted, noted.SeldomAnother])
def test_an_arm_that_holds_more_than_its_number_ends_the_bound(maker):
    """Broken variant: what `int()` makes of it is seen."""
    done = explore(Program(BanditClass(maker), (4, 2), (0.0, 1.0)), 2, most=18)
    assert ("an arm must be a whole number, got Noted" in str(done.failure)) == (maker is noted.SeldomNoted)
    assert bool(done.failure) == (maker is noted.SeldomNoted)
