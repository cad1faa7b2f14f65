"""Edges of the certificate of our own algorithms: each refusal by itself, with what is granted beside it."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim, Relation, gdp_epsilon
from verifiable_dp.core.noise import Draw, Hidden
from verifiable_dp.core.query import Batch, Histogram, NoMemory, Query, State, Truncated
from verifiable_dp.evidence import certify, forced_runs
from verifiable_dp.evidence.certify import Batched
from verifiable_dp.evidence.forced_runs import NotOfFormError
from verifiable_dp.evidence.premises import Premise, Taken

ACTIVE = np.ones((1, 2), bool)


def reach(bounds, limit=None, centre=0.0):
    """The least and the largest value that a reward within `bounds` adds to a sum."""
    ask = None if limit is None else Truncated(np.full((1, 2), limit), np.full((1, 2), centre))
    least, most = forced_runs._range(SimpleNamespace(bounds=bounds), SimpleNamespace(active=ACTIVE, ask=ask))
    assert (least == least[0, 0]).all()
    assert (most == most[0, 0]).all()
    return float(least[0, 0]), float(most[0, 0])


@pytest.mark.parametrize(
    ("bounds", "limit", "centre", "wanted"),
    [
        ((0, 1), None, 0.0, (0, 1)),
        ((-2, 3), None, 0.0, (-2, 3)),
        ((-2, 3), 5.0, 0.0, (-2, 3)),  # nothing is truncated
        ((-9, 9), 5.0, 0.0, (-5, 5)),
        ((0, 9), 5.0, 0.0, (0, 5)),
        # A reward that is truncated counts as 0, which may lie beyond those that are kept.
        ((2, 9), 5.0, 0.0, (0, 5)),
        ((2, 5), 5.0, 0.0, (2, 5)),  # none is
        ((-9, -2), 5.0, 0.0, (-5, 0)),
        ((-5, -2), 5.0, 0.0, (-5, -2)),
        ((0, 9), 5.0, 4.0, (-4, 5)),
        ((6, 9), 5.0, 4.0, (2, 5)),
        ((6, 10), 5.0, 4.0, (0, 5)),
        ((-np.inf, np.inf), 5.0, 0.0, (-5, 5)),
    ],
)
def test_how_far_a_reward_moves_a_sum(bounds, limit, centre, wanted):
    assert reach(bounds, limit, centre) == wanted


@pytest.mark.parametrize(
    ("bounds", "limit"), [((0, np.inf), None), ((-np.inf, 1), None), ((0, np.inf), np.inf)]
)
def test_a_reward_that_moves_a_sum_without_limit_is_refused(bounds, limit):
    with pytest.raises(NotOfFormError, match="without limit"):
        reach(bounds, limit)


def test_one_arm_without_a_limit_is_enough_to_refuse():
    ask = Truncated(np.array([[5.0, np.inf]]), np.zeros((1, 2)))
    for bounds in ((0, np.inf), (-np.inf, 0)):
        with pytest.raises(NotOfFormError, match="without limit"):
            forced_runs._range(SimpleNamespace(bounds=bounds), SimpleNamespace(active=ACTIVE, ask=ask))


def test_a_question_of_unknown_sensitivity_is_refused():
    query = SimpleNamespace(active=ACTIVE, ask=Histogram(np.array([[0.0, 1.0]])))
    with pytest.raises(NotOfFormError, match="Histogram has no known sensitivity"):
        forced_runs._range(SimpleNamespace(bounds=(0, 1)), query)


@pytest.mark.parametrize(
    ("cost", "linear"),
    [
        ([1.0, 0.5, 3.0, 1.5], True),
        ([1.0, 0.5, 3.0, 1.5 * (1 + 0.97e-6)], True),
        ([1.0, 0.5, 3.0, 1.5 * (1 + 1.03e-6)], False),
        ([1.0, 0.5 * (1 + 1e-6), 3.0, 1.5], True),
        ([1.0, 0.5 * (1 + 1.03e-6), 3.0, 1.5], False),
        ([1.0, 0.25, 3.0, 1.5], False),  # a half of the change costs a quarter
        ([1.0, 1.0, 3.0, 1.5], False),
        ([0.0, 0.0, 3.0, 1.5], True),
        ([0.0, 0.5, 3.0, 1.5], False),
        ([np.inf, np.inf, 3.0, 1.5], True),
        ([np.inf, 0.5, 3.0, 1.5], False),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1)])
def test_costs_must_grow_with_the_change(cost, linear, order):
    """Two places, each with a whole change and half of one."""
    pick = list(order)
    given = np.array(cost)[pick], np.array([1.0, 0.5, 1.0, 0.5])[pick], np.array([0, 0, 1, 1])[pick]
    if linear:
        forced_runs.linear(*given)
    else:
        with pytest.raises(NotOfFormError, match="not linear in the rewards"):
            forced_runs.linear(*given)


RUN = np.arange(1)


def draw(value=1.0, scale=1.0, slot=0, where=True, hidden=None, run=RUN, columns=1):
    shape = (1, columns)
    return Draw(
        np.full(shape, value),
        np.full(shape, scale),
        run,
        np.full(shape, slot),
        np.full(shape, where),
        hidden=hidden,
    )


def echoed(second, first=None):
    """What the second input is given after the first one drew."""
    forced = forced_runs.Forced(RUN, lambda draw: 0 * draw.value + 0.5)
    forced(first or draw())
    echo = forced_runs._Echo(forced.calls)
    echo(second)
    return echo


def test_the_second_input_is_given_the_outputs_of_the_first():
    change, scale = echoed(draw(value=1.75)).together()
    assert change.tolist() == [[0.75]]
    assert scale.tolist() == [[1.0]]


HIDDEN = Hidden(shift=lambda _: 0.0)


@pytest.mark.parametrize(
    "second",
    [
        draw(scale=2.0),
        draw(slot=1),
        draw(where=False),
        draw(columns=2),
        draw(hidden=HIDDEN),
    ],
    ids=["scale", "slot", "where", "shape", "hidden"],
)
def test_draws_that_depend_on_the_data_are_refused(second):
    with pytest.raises(NotOfFormError, match="draws depend on the data"):
        echoed(second)


def test_more_draws_on_the_second_input_are_refused():
    echo = echoed(draw())
    with pytest.raises(NotOfFormError, match="number of draws depends on the data"):
        echo(draw())


def test_runs_that_share_their_draws_are_refused():
    with pytest.raises(NotOfFormError, match="runs share their draws"):
        forced_runs.Forced(RUN, lambda draw: 0 * draw.value)(draw(run=RUN + 1))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (None, None, True),
        (None, np.zeros(1), False),
        (np.array(1.0), None, False),
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-13, np.nan]), True),
        (np.array([1.0]), np.array([1.0 + 0.97e-12]), True),
        (np.array([1.0]), np.array([1.0 + 1.03e-12]), False),
        (np.array([0.0]), np.array([1e-300]), False),
        (np.array([1.0]), np.array([[1.0]]), False),
        (np.array([1.0]), np.array([np.nan]), False),
    ],
)
def test_what_is_equal_to_the_last_bits(left, right, equal):
    assert forced_runs.equal(left, right) == equal


@pytest.mark.parametrize(
    ("terms", "cost"),
    [
        ((), 0.0),
        (((1.0, 2.0, 3),), 1.5),
        (((1.0, 2.0, 3), (4.0, 2.0, 1)), 3.5),
        (((1.0, 0.0, 1),), np.inf),
        (((1.0, 0.5, 1),), 2.0),
    ],
)
def test_what_a_state_costs(terms, cost):
    assert forced_runs.Reach("s", terms).cost == cost


# ---------------------------------------------------------------- answers that differ in one reward


def asked(pulls=((4, 2),), ask=None, start=0, complete=True):
    """A block whose arms are pulled so often, in each row."""
    pulls = np.array(pulls)
    zero = 0 * pulls[:, 0]
    return Query(zero + start, pulls.sum(axis=1), pulls > 0, (zero == 0) & complete, ask, pulls)


def answered(variant, arm=0, pulls=(4, 2), ask=None, changed=True):
    algorithm = SimpleNamespace(bounds=(1, 3))
    query = asked([pulls], ask and Histogram(np.array([ask], float)))
    found = forced_runs.possible_answers(algorithm, query, *map(np.array, ([arm], [variant], [changed])))
    return [sums[0].tolist() for sums in found]


G = forced_runs._GOLDEN
MANY = 1 << 20


@pytest.mark.parametrize(
    ("variant", "changes", "left", "right"),
    [
        (0, {}, [4, 2], [6, 2]),  # all at the least, one goes to the largest
        (1, {}, [10, 6], [12, 6]),
        (1, {"arm": 1}, [12, 4], [12, 6]),
        (2, {}, [7, 4], [9, 4]),
        (3, {}, [8 - G, 4], [8 + G, 4]),
        (4, {}, [8, 4], [8 + G, 4]),
        (5, {}, [4 + 4 * 0.6, 2 + 2 * 0.6], [4 + 4 * 0.6 + 2 * G, 2 + 2 * 0.6]),
        (0, {"changed": False}, [4, 2], [4, 2]),
        (2, {"changed": False}, [8, 4], [8, 4]),
        # What is charged is summed over few pulls, lest rounding hides the change.
        (0, {"pulls": (MANY + 5, MANY)}, [MANY, MANY], [MANY + 2, MANY]),
        (1, {"pulls": (MANY + 5, 1)}, [3 * MANY - 2, 3], [3 * MANY, 3]),
        (2, {"pulls": (MANY + 5, 1)}, [2 * (MANY + 5) - 1, 2], [2 * (MANY + 5) + 1, 2]),
        # A reward moves from a bin into the next one; all others are in the first, the last or between.
        (0, {"ask": [0, 1, 2, 3]}, [[4, 0, 0], [2, 0, 0]], [[3, 1, 0], [2, 0, 0]]),
        (6, {"ask": [0, 1, 2, 3]}, [[3, 1, 0], [2, 0, 0]], [[3, 0, 1], [2, 0, 0]]),
        (12, {"ask": [0, 1, 2, 3]}, [[3, 0, 1], [2, 0, 0]], [[4, 0, 0], [2, 0, 0]]),
        (18, {"ask": [0, 1, 2, 3]}, [[4, 0, 0], [2, 0, 0]], [[3, 1, 0], [2, 0, 0]]),
        (1, {"ask": [0, 1, 2, 3]}, [[1, 0, 3], [0, 0, 2]], [[0, 1, 3], [0, 0, 2]]),
        (7, {"ask": [0, 1, 2, 3], "arm": 1}, [[0, 0, 4], [0, 1, 1]], [[0, 0, 4], [0, 0, 2]]),
        (2, {"ask": [0, 1, 2, 3]}, [[1, 3, 0], [0, 2, 0]], [[0, 4, 0], [0, 2, 0]]),
        (0, {"ask": [0, 1, 2, 3], "changed": False}, [[4, 0, 0], [2, 0, 0]], [[4, 0, 0], [2, 0, 0]]),
        (0, {"ask": [0, 1]}, [4, 2], [4, 2]),
    ],
)
def test_answers_on_neighbouring_inputs(variant, changes, left, right):
    found = answered(variant, **changes)
    assert np.allclose(found[0], left, rtol=1e-14, atol=0)
    assert np.allclose(found[1], right, rtol=1e-14, atol=0)


# ---------------------------------------------------------------- forced releases


def rows(values, scale=1.0, where=True, hidden=None, count=None, slot=0):
    """A draw of as many rows."""
    value = np.array(values, float)

    def wide(given):
        return np.broadcast_to(np.array(given), value.shape)

    count = None if count is None else wide(count)
    return Draw(value, wide(scale), np.arange(len(value)), wide(slot), wide(where), count, hidden)


def edge(*at):
    """Hidden noise that is compared with a number of each row."""
    return Hidden(lambda shown: 0.0, lambda noisy: {"output": (noisy >= np.array(at)[:, None]) * 1.0})


@pytest.mark.parametrize(
    ("draw", "out"),
    [
        (rows([[1.0], [2.0]]), [[1.5], [2.5]]),
        (rows([[1.0], [2.0]], [[2.0], [0.5]]), [[2.0], [2.25]]),
        (rows([[1.0]], 0.0), [[1.5]]),
        (rows([[1.0, 2.0]], 1.0, [[False, True]]), [[math.nan, 2.5]]),
        (rows([[3.0]], hidden=Hidden(lambda shown: 0.0)), [[0.0]]),
        (rows([[3.0]], 2.0, hidden=Hidden(lambda shown: 0.0)), [[0.0]]),
    ],
)
def test_what_is_forced_to_be_released(draw, out):
    forced = forced_runs.Forced(draw.run, lambda draw: 0 * draw.value + 0.5)
    assert np.array_equal(forced(draw), out, equal_nan=True)
    assert len(forced.calls) == 1
    assert forced.calls[0][0] is draw


@pytest.mark.parametrize(
    ("at", "scale"),
    [
        ((0.3, 0.3), [[1.0], [1.0]]),
        ((0.3, 900.0), [[1.0], [1.0]]),
        ((-900.0, 0.3), [[1.0], [1.0]]),
        ((0.3, 0.3), [[1e-3], [1e3]]),
        ((1e6, -1e6), [[0.25], [4.0]]),
    ],
)
@pytest.mark.parametrize("yes", [False, True])
def test_hidden_noise_is_forced_to_the_edge(at, scale, yes):
    """A millionth of its scale or two on the side that is asked for."""
    draw = rows([[5.0], [7.0]], scale, hidden=edge(*at))
    forced = forced_runs.Forced(draw.run, lambda draw: 0 * draw.value, yes)
    out = forced(draw)
    beyond = (out - np.array(at)[:, None]) / np.array(scale) * (1 if yes else -1)
    assert (beyond > 0.9e-6).all()
    assert (beyond < 2.1e-6).all()
    assert forced.compares


@pytest.mark.parametrize(
    ("draw", "compares"),
    [
        (rows([[1.0]]), False),
        (rows([[1.0]], hidden=Hidden(lambda shown: 0.0)), False),
        (rows([[1.0]], hidden=edge(0.5)), True),
        (rows([[1.0]], where=False, hidden=edge(0.5)), False),
        (rows([[1.0, 1.0]], where=[[False, True]], hidden=edge(0.5)), True),
    ],
)
def test_whether_something_is_compared(draw, compares):
    forced = forced_runs.Forced(draw.run, lambda draw: 0 * draw.value)
    assert forced.compares is False
    forced(draw)
    forced(replace(draw, hidden=None))
    assert forced.compares is compares


def test_forced_draws_of_the_second_input():
    """Noise that is kept moves as declared, and what is not drawn costs nothing."""
    moving = Hidden(lambda shown: 0.25)
    first = rows([[1.0, 1.0]], 2.0, [[True, False]]), rows([[1.0]], 0.5, hidden=moving)
    second = rows([[1.75, 9.0]], 2.0, [[True, False]]), rows([[3.0]], 0.5, hidden=moving)
    forced = forced_runs.Forced(first[0].run, lambda draw: 0 * draw.value + 0.5)
    given = [forced(draw) for draw in first]
    echo = forced_runs._Echo(forced.calls)
    echoed = [echo(draw) for draw in second]
    assert np.array_equal(echoed[0], given[0], equal_nan=True)
    assert echoed[1].tolist() == [[2.25]]
    change, scale = echo.together()
    assert (change.tolist(), scale.tolist()) == ([[0.75, 0.0, 0.25]], [[2.0, 2.0, 0.5]])


def test_without_draws_nothing_moves():
    assert [part.shape for part in forced_runs._Echo([]).together()] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(("shift", "fits"), [(0.5, True), (0.0, False)])
def test_a_declared_shift_must_give_the_same_outcome(shift, fits):
    """On the second input the compared value is lower by a half."""
    hidden = Hidden(lambda shown: np.where(shown["output"] > 0, shift, 0.0), edge(4.0).outcome)
    forced = forced_runs.Forced(np.arange(1), lambda draw: 0 * draw.value, True)
    forced(rows([[1.0]], hidden=hidden))
    echo = forced_runs._Echo(forced.calls)
    if fits:
        echo(rows([[0.5]], hidden=hidden))
        assert echo.moved[0][0].tolist() == [[0.5]]
    else:
        with pytest.raises(NotOfFormError, match="declared noise shift does not give the same output"):
            echo(rows([[0.5]], hidden=hidden))


@dataclass(frozen=True)
class Two(Batch):
    """Two arrays."""

    one: np.ndarray
    other: np.ndarray


@pytest.mark.parametrize(
    ("left", "right", "equal"), [((1, 2), (1, 2), True), ((1, 2), (1, 3), False), ((1, 2), (0, 2), False)]
)
def test_batches_are_equal_in_all_parts(left, right, equal):
    assert forced_runs.equal(*(Two(*map(np.array, side)) for side in (left, right))) is equal


# ---------------------------------------------------------------- what blocks cost


def block(changes, scales, slots=((0.0,),), counts=None):
    arrays = [np.array(part, float) for part in (changes, scales, slots)]
    counts = None if counts is None else np.array(counts)
    return forced_runs.Block((None, None), None, *arrays, counts, False, False)


def test_what_the_rows_of_a_block_cost():
    found = block([[1, 0], [2, 3], [0, 0], [1, 0], [0.5, 0.5]], [[2, 0], [4, 3], [0, 0], [0, 1], [1, 1]])
    assert found.cost.tolist() == [0.5, 1.5, 0, math.inf, 1]


@pytest.mark.parametrize(
    ("changes", "scales", "terms"),
    [
        ([], [], ()),
        ([0.0, 1.0], [1.0, 2.0], ((1.0, 2.0, 1),)),
        ([0.5, 1.0, 0.5], [1.0, 2.0, 1.0], ((0.5, 1.0, 2), (1.0, 2.0, 1))),
        ([0.5, 0.5 * (1 + 1e-13)], [1.0, 1.0], ((0.5, 1.0, 2),)),
        ([2.0, 1.0, 1.0], [1.0, 2.0, 1.0], ((1.0, 1.0, 1), (1.0, 2.0, 1), (2.0, 1.0, 1))),
    ],
)
def test_the_terms_of_a_state(changes, scales, terms):
    assert forced_runs.terms_of(np.array(changes), np.array(scales)) == terms


@pytest.mark.parametrize(
    ("slots", "row", "states", "first", "last"),
    [
        ([[0.0, 3.0], [5.0, 4.0]], [0, 1], 2, [0, 4], [3, 5]),
        ([[0.0, 3.0], [5.0, 1.0]], [0, 0], 1, [0], [5]),
        ([[7.0, math.nan], [math.nan, math.nan]], [0, 1], 2, [7, math.inf], [7, -math.inf]),
        (np.zeros((2, 0)), [0, 1], 2, [math.inf] * 2, [-math.inf] * 2),
        ([[-1.0], [2.0]], [0, 1], 2, [-1, 2], [-1, 2]),
    ],
)
def test_the_least_and_the_largest_draw_of_a_state(slots, row, states, first, last):
    found = forced_runs.slots_between(np.array(slots), np.array(row), states)
    assert [part.tolist() for part in found] == [first, last]


def test_a_draw_that_a_block_uses_twice_is_refused():
    for slots in ([[1.0, 2.0, 1.0]], [[1.0, 2.0], [3.0, 3.0]]):
        with pytest.raises(NotOfFormError, match="a draw is used twice in a block"):
            forced_runs.slots_between(np.array(slots), np.arange(len(slots)), len(slots))


@pytest.mark.parametrize(
    ("counts", "full", "found"),
    [
        (None, [True, True], set()),
        ([[3, 0], [3, 2]], [True, True], {Batched((3, 0), 2.0, 1.0), Batched((3, 2), 4.0, 0.5)}),
        ([[3, 0], [3, 2]], [True, False], {Batched((3, 0), 2.0, 1.0)}),
        ([[3, 0], [3, 2]], [False, False], set()),
    ],
)
def test_the_batches_of_a_block(counts, full, found):
    lanes = block([[1.0, 0.0], [0.25, 0.5]], [[2.0, 9.0], [9.0, 4.0]], counts=counts)
    assert certify._batches(lanes, np.arange(2), np.array(full)) == found


def test_of_each_lane_there_is_a_batch():
    lanes = block([[0.0], [0.5], [1.0]], [[1.0]] * 3, counts=[[1], [2], [3]])
    found = certify._batches(lanes, np.arange(3), np.array([True] * 3))
    assert found == {Batched((2,), 1.0, 0.5), Batched((3,), 1.0, 1.0)}


def test_without_a_change_there_is_no_batch():
    assert certify._batches(block([[0.0]], [[1.0]], counts=[[1]]), np.arange(1), np.array([True])) == set()


@pytest.mark.parametrize(
    ("row", "cost", "full", "chosen"),
    [
        ([0, 0, 1, 1], [1, 3, 2, 0], [True] * 4, [1, 2]),
        ([0, 0, 1, 1], [1, 3, 2, 0], [True, False, True, True], [0, 2]),  # what is charged comes first
        ([0, 1, 1, 2], [1, 2, 3, 0], [True] * 4, [0, 2, 3]),
    ],
)
def test_the_costliest_lane_of_each_state(row, cost, full, chosen):
    assert list(certify._distinct(*map(np.array, (row, cost, full)))) == chosen


@pytest.mark.parametrize(("ask", "size"), [(None, 6), (Histogram(np.array([[0.0, 1.0, 2.0]])), 12)])
def test_the_lanes_of_a_block(ask, size):
    """For each arm that is pulled each variant, of histograms for each bin."""
    row, arm, variant = certify._lanes(asked([(2, 0, 1), (0, 3, 0)], ask))
    assert row.tolist() == [0] * 2 * size + [1] * size
    assert arm.tolist() == [0] * size + [2] * size + [1] * size
    assert variant.tolist() == 3 * list(range(size))


# ---------------------------------------------------------------- the next public states


@dataclass(frozen=True)
class Arms(State):
    """Which arms remain."""

    active: np.ndarray


@dataclass(frozen=True)
class Chosen(Arms):
    """One arm that released values choose."""

    released = ("means",)
    means: np.ndarray


def arms(sets, t=0, **more):
    active = np.array([[int(c) for c in s] for s in sets], bool)
    run = np.zeros(len(sets), np.int64)
    kind = Chosen if more else Arms
    return kind(run, run + np.array(t), active, **{name: np.array(value) for name, value in more.items()})


def listed(state, top):
    return sorted(
        (int(t), "".join(str(int(a)) for a in row), float(most))
        for t, row, most in zip(state.t, state.active, top, strict=True)
    )


def children(sets, after, row, t, complete=(True, True), top=(1.0, 2.0), **more):
    before = arms(sets, **({"means": [0.0] * len(sets)} if more else {}))
    query = replace(asked([(1,) * len(sets[0])] * len(sets)), complete=np.array(complete)[: len(sets)])
    given = before, query, arms(after, t, **more), np.array(row), np.array(top)
    return listed(*certify._children(*given))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        # Every set of arms that may remain, whichever was seen.
        ((["11"], ["11", "10"], [0, 0], [3, 3]), [(3, "01", 1), (3, "10", 1), (3, "11", 1)]),
        ((["11"], ["10"], [0], [3]), [(3, "01", 1), (3, "10", 1), (3, "11", 1)]),
        ((["10"], ["10"], [0], [3]), [(3, "10", 1)]),
        # A block that is cut short ends the run: only what was seen.
        ((["11"], ["10"], [0], [3], [False]), [(3, "10", 1)]),
        (
            (["11", "11"], ["10", "01"], [0, 1], [3, 4], [False, True]),
            [(3, "10", 2), (4, "01", 2), (4, "10", 2), (4, "11", 2)],
        ),
        # Of several states whatever remains in any of them.
        ((["10", "01"], ["10", "01"], [0, 1], [3, 3]), [(3, "01", 2), (3, "10", 2), (3, "11", 2)]),
        # Of states that differ in the round alone the first and the last, with the largest draw of both.
        (
            (["10", "10", "10"], ["10"] * 3, [0, 1, 2], [3, 5, 4], [True] * 3, [1, 2, 3]),
            [(3, "10", 3), (5, "10", 3)],
        ),
    ],
)
def test_the_next_public_states(given, found):
    assert children(*given) == found


def test_where_released_values_choose_one_arm_every_arm_is_tried():
    found = children(["11"], ["10", "10"], [0, 0], [3, 3], means=[0.25, 0.5])
    assert found == [(3, "01", 1), (3, "10", 1)]


def test_states_without_arms_are_those_that_were_seen():
    run = np.zeros(3, np.int64)
    after = State(run, np.array([4, 2, 3]))
    seen, top = certify._children(after, asked([(1,)] * 3), after, np.arange(3), np.array([1.0, 5.0, 2.0]))
    assert (sorted(seen.t.tolist()), top.tolist()) == ([2, 4], [5, 5])


def test_sets_by_number():
    sets = ["".join(str(int(a)) for a in certify._set(number, 3)) for number in range(8)]
    assert sets == ["000", "100", "010", "110", "001", "101", "011", "111"]


# ---------------------------------------------------------------- algorithms of the form, and offenders


@dataclass(frozen=True)
class Kept(Batch):
    """A private number."""

    total: np.ndarray


@dataclass(frozen=True)
class Seen(State):
    """The last released value, of which nothing but the next arm may depend."""

    released = ("last",)
    active: np.ndarray
    last: np.ndarray


@dataclass(frozen=True)
class Held(State):
    """With a part of several fields."""

    held: Kept


@dataclass(frozen=True)
class Rounds(Algorithm):
    """Blocks whose sums get noise; `how` says what it does wrong."""

    how: str = ""
    horizon: int = 4
    block: int = 2
    n_arms: int = 2
    scale: float = 2.0
    high: float = 1.0
    hides: int = 0
    name = "rounds"

    @property
    def bounds(self):
        return (0.0, self.high)

    @property
    def claim(self):
        return PrivacyClaim(1.0, observe="releases")

    def private(self, run):
        return Kept(np.zeros(len(run))) if self.how == "keeps" else NoMemory(run)

    def start(self, run):
        return State(run, np.zeros(len(run), np.int64))

    def query(self, state):
        rounds = np.minimum(self.block, self.horizon - state.t)
        active = np.ones((len(rounds), self.n_arms), bool)
        ask = Histogram(np.tile([0.0, 0.5, 1.0], (len(rounds), 1))) if self.how == "bins" else None
        return Query(state.t, rounds, active, rounds == self.block, ask)

    def draws(self, state, query, answer):
        """The draw of a block."""
        slot = state.t[:, None] * 100 + np.arange(self.n_arms)
        if self.how == "once for all":
            slot = slot % 100
        if self.how == "one for two arms":
            slot = 0 * slot + state.t[:, None]
        scale = np.full(answer.shape, self.scale)
        scale = scale * (1 + (answer[:, :1] > 0.6)) if self.how == "scale" else scale
        value = answer**2 if self.how == "square" else answer
        scale = scale + np.arange(self.n_arms) if self.how == "by arm" else scale
        where = query.pulls() > 0
        count = query.pulls() if self.how in ("reports", "crowd") else None
        normal = self.how in ("normal", "both") or (self.how == "by turns" and bool((state.t > 0).all()))
        freedom = int(self.how == "free")
        return Draw(value, scale, state.run, slot, where, count, normal=normal, freedom=freedom)

    def release(self, state, memory, query, answer, noise):
        if self.how == "bins":
            answer = answer[:, :, 0]
        draw = self.draws(state, query, answer)
        out = noise(draw)
        more = replace(draw, slot=draw.slot + 50)
        uneven = (answer[:, 0] % 1 > 0.5).any()
        if self.how == f"perhaps {'more' if uneven else 'fewer'}":
            noise(more)
        if self.how == "both":
            noise(replace(more, normal=False))
        if self.how == "compares":
            zero = np.zeros((len(answer), 1))
            gap = Hidden(lambda shown: 0.0, lambda noisy: {"output": (noisy >= 0) * 1.0})
            noise(Draw(zero, zero + 1, state.run, more.slot[:, :1], zero == 0, hidden=gap))
        if self.how == "shares":
            out = noise(replace(more, run=0 * draw.run))
        if self.how == "infinite":
            out = out * math.inf
        if self.how == "partly infinite":
            out = np.where(np.arange(self.n_arms) == 1, math.inf, out)
        if self.how in ("publishes", "decides"):
            out = out + (1e-9 if self.how == "publishes" else 1e-13) * answer
        return memory, out

    def decide(self, state, query, released):
        after = replace(state, t=state.t + query.rounds - (1 if self.how == "overlaps" else 0))
        bits = np.nan_to_num(released).view(np.int64)[:, 0] if self.how == "decides" else 0
        return replace(after, t=after.t + bits % 2)


def unfolded(how="", **more):
    found = certify.unfolded(Rounds(how, **more))
    return {reach.state: reach.terms for reach in found.reaches}, found.states, set(found.batches)


def test_what_unfolding_comes_to():
    assert unfolded() == ({"block at round 0, arms 11": ((1, 2, 1),)}, 2, set())
    assert unfolded(horizon=5, n_arms=1) == ({"block at round 0, arms 1": ((1, 2, 1),)}, 3, set())
    assert unfolded(high=3.0, scale=0.0)[0] == {"block at round 0, arms 11": ((3, 0, 1),)}
    assert unfolded("bins")[0] == {"block at round 0, arms 11": ((1, 2, 1),)}
    assert unfolded("by arm")[0] == {"block at round 0, arms 11": ((1, 2, 1),)}
    assert unfolded("reports")[2] == {Batched((1, 1), 2.0, 1.0)}
    assert unfolded(horizon=0) == ({}, 0, set())


OFFENDERS = [
    ({"how": "keeps"}, "keeps private values between blocks"),
    ({"how": "compares"}, "keeps private values between blocks"),
    ({"how": "once for all"}, "a draw is used twice in a run"),
    ({"how": "one for two arms"}, "a draw is used twice in a block"),
    ({"how": "square"}, "releases are not linear in the rewards"),
    ({"how": "scale"}, "draws depend on the data"),
    ({"how": "perhaps more"}, "the number of draws depends on the data"),
    ({"how": "perhaps fewer"}, "the number of draws depends on the data"),
    ({"how": "free"}, "noise is neither all Laplace nor all normal"),
    ({"how": "both"}, "noise is neither all Laplace nor all normal"),
    ({"how": "by turns"}, "noise is neither all Laplace nor all normal"),
    ({"how": "shares"}, "runs share their draws"),
    ({"how": "infinite"}, "publishes infinite values"),
    ({"how": "partly infinite"}, "publishes infinite values"),
    ({"how": "once for all", "n_arms": 1}, "a draw is used twice in a run"),
    ({"how": "publishes"}, "what is published differs although every release is the same"),
    ({"how": "overlaps"}, "blocks overlap"),
    ({"how": "decides"}, "decisions differ although every release is the same"),
    ({"high": math.inf}, "one reward can change an answer without limit"),
    ({"n_arms": 11, "block": 11}, "n_arms must be at most 10"),
]


@pytest.mark.parametrize(("given", "words"), OFFENDERS)
def test_what_is_not_unfolded(given, words):
    with pytest.raises(NotOfFormError, match=words):
        certify.unfolded(Rounds(**given))


def test_so_many_arms_and_states_are_unfolded():
    assert certify.unfolded(Rounds(n_arms=10, block=10, horizon=10)).states == 1
    with mock.patch.object(certify, "MOST_STATES", 2):
        assert certify.unfolded(Rounds()).states == 2
    with mock.patch.object(certify, "MOST_STATES", 1), pytest.raises(NotOfFormError, match="more than 1 pub"):
        certify.unfolded(Rounds())


class Bins(Rounds):
    """Two arms and three bins, each with noise of its own scale."""

    def query(self, state):
        ask = Histogram(np.tile([0.0, 0.25, 0.5, 1.0], (len(state.t), 1)))
        return replace(super().query(state), ask=ask)

    def release(self, state, memory, query, answer, noise):
        value = answer.reshape(len(answer), -1)
        slot = state.t[:, None] * 100 + np.arange(value.shape[1])
        scale = np.broadcast_to([1.0, 2.0, 4.0, 8.0, 8.0, 8.0], value.shape)
        out = noise(Draw(value, scale, state.run, slot, np.ones(value.shape, bool)))
        return memory, out.reshape(answer.shape)


def test_places_of_other_scales_are_told_apart():
    found = certify.unfolded(Bins())
    assert [reach.terms for reach in found.reaches] == [((1, 1, 1), (1, 2, 1))]


class Late(Rounds):
    """The next block begins a round later where the last release is positive: two of three arms."""

    def decide(self, state, query, released):
        return replace(state, t=state.t + query.rounds + (released[:, 0] > 0))


def test_arms_of_several_states_are_told_apart():
    found = certify.unfolded(Late("by arm", n_arms=3, block=3, horizon=8))
    assert ({reach.terms for reach in found.reaches}, found.states) == ({((1, 2, 1),)}, 4)


@dataclass(frozen=True)
class Elimination(Rounds):
    """Drops the arms whose released sum is below 0; fewer arms and later ones get other noise."""

    def start(self, run):
        return Arms(run, np.zeros(len(run), np.int64), np.ones((len(run), self.n_arms), bool))

    def query(self, state):
        left = np.minimum(state.active.sum(axis=1), self.horizon - state.t)
        return Query(state.t, left, state.active, left == state.active.sum(axis=1))

    def draws(self, state, query, answer):
        draw = super().draws(state, query, answer)
        scale = draw.scale * query.active.sum(axis=1, keepdims=True) + np.arange(self.n_arms) / 4
        slot = draw.slot
        if self.how == "once for one":  # the draws of a block with a single arm
            slot = np.where(query.active.sum(axis=1, keepdims=True) == 1, slot % 100, slot)
        return replace(draw, scale=scale, slot=slot)

    def decide(self, state, query, released):
        kept = query.active & ~(np.nan_to_num(released) < 0)
        kept = np.where(kept.any(axis=1, keepdims=True), kept, query.active)
        return replace(state, t=state.t + query.rounds, active=kept)


def test_every_set_of_arms_is_tried():
    found = certify.unfolded(Elimination(horizon=3))
    terms = {reach.state: reach.terms for reach in found.reaches}
    assert terms == {
        "block at round 0, arms 11": ((1, 4, 1),),
        "block at round 2, arms 1": ((1, 2, 1),),
        "block at round 2, arms 10": ((1, 2.25, 1),),
    }
    assert found.states == 4


def test_one_state_that_draws_again_is_enough_to_refuse():
    with pytest.raises(NotOfFormError, match="a draw is used twice in a run"):
        certify.unfolded(Elimination("once for one", horizon=3))


# ---------------------------------------------------------------- blocks that are played


@dataclass(frozen=True)
class Once(Algorithm):
    """Two runs of one block, with so many draws of which some are sums of reports."""

    draws: int = 1
    counted: int = 0
    late: tuple = (1, 1)
    n_arms: int = 1
    horizon: int = 9
    name = "once"

    def query(self, state):
        raise NotImplementedError

    def start(self, run):
        return State(run, 0 * run)

    def release(self, state, memory, query, answer, noise):
        out = answer
        for number in range(self.draws):
            count = query.pulls() if number < self.counted else None
            slot = state.run[:, None] * 10 + number
            out = noise(Draw(answer, answer * 0 + 1, state.run, slot, answer == answer, count))
        return memory, out

    def decide(self, state, query, released):
        return replace(state, t=np.array(self.late))


def once(start=(0, 0), t=(0, 0), answers=((1.0, 1.0), (1.0, 2.0)), **given):
    algorithm, run = Once(**given), np.arange(2)
    memory = NoMemory(run)
    query = Query(np.array(start), np.ones(2, int), np.ones((2, 1), bool), run >= 0)
    sums = tuple(np.array(side)[:, None] for side in answers)
    forced = forced_runs.Forced(run, lambda draw: 0 * draw.value + 0.5)
    return forced_runs.played_block(algorithm, State(run, np.array(t)), (memory, memory), query, sums, forced)


@pytest.mark.parametrize(("draws", "counted"), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 0)])
def test_a_block_that_is_played(draws, counted):
    found = once(draws=draws, counted=counted)
    assert found.changes.tolist() == [[0] * draws, [1] * draws]
    assert found.scales.tolist() == [[1] * draws] * 2
    assert found.slots.tolist() == [list(range(draws)), list(range(10, 10 + draws))]
    assert (None if found.counts is None else found.counts.tolist()) == ([[1], [1]] if counted == 1 else None)


def test_a_block_without_draws():
    found = once(draws=0, answers=((1.0, 1.0), (1.0, 1.0)))
    assert [part.shape for part in (found.changes, found.scales, found.slots)] == [(2, 0)] * 3
    assert found.cost.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("start", "t", "late", "fits"),
    [
        ((0, 0), (0, 0), (1, 1), True),
        ((0, 0), (0, 0), (2, 1), True),
        ((0, 0), (0, 0), (1, 0), False),
        ((0, 0), (0, 0), (0, 0), False),
        ((1, 1), (0, 1), (2, 2), True),
        ((1, 1), (0, 2), (2, 2), False),
        ((1, 1), (2, 2), (2, 2), False),
    ],
)
def test_blocks_follow_one_another(start, t, late, fits):
    """In every run the block begins where the last one ended, or later, and so does the next one."""
    if fits:
        assert once(start, t, late=late).after.t.tolist() == list(late)
    else:
        with pytest.raises(NotOfFormError, match="blocks overlap"):
            once(start, t, late=late)


@dataclass(frozen=True)
class Turns(Rounds):
    """One arm a block, which the last released value chooses; every arm is tried."""

    def start(self, run):
        first = np.zeros((len(run), self.n_arms), bool)
        first[:, 0] = True
        return Seen(run, np.zeros(len(run), np.int64), first, np.zeros((len(run), 1)))

    def query(self, state):
        rounds = np.minimum(self.block, self.horizon - state.t)
        if self.how == "longer":
            rounds = np.where(state.last[:, 0] > 100, np.minimum(rounds, 1), rounds)
        return Query(state.t, rounds, state.active, rounds > 0)

    def release(self, state, memory, query, answer, noise):
        draw = self.draws(state, query, answer)
        if self.how == "louder":
            draw = replace(draw, scale=draw.scale * (1 + (state.last > 100)))
        if self.how == "elsewhere":
            draw = replace(draw, slot=draw.slot + 7 * (state.last > 100))
        return memory, noise(draw)

    def decide(self, state, query, released):
        last = np.nansum(released, axis=1, keepdims=True)
        active = np.arange(self.n_arms) == (last > 0).astype(int)
        return replace(state, t=state.t + query.rounds, active=active, last=last)


def test_of_bandits_that_play_one_arm_every_arm_is_tried():
    found = certify.unfolded(Turns(n_arms=3, horizon=6))
    assert ([reach.terms for reach in found.reaches], found.states) == ([((1, 2, 1),)], 7)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("longer", "released values determine how long an arm is played"),
        ("louder", "a noise scale depends on released values"),
        ("elsewhere", "a noise scale depends on released values"),
    ],
)
def test_what_else_depends_on_released_values_is_refused(how, words):
    with pytest.raises(NotOfFormError, match=words):
        certify.unfolded(Turns(how, n_arms=3, horizon=6))


# ---------------------------------------------------------------- chains


@dataclass(frozen=True)
class Scores(State):
    """What was released of each arm, and whether the run has halted."""

    score: np.ndarray
    halted: np.ndarray


@dataclass(frozen=True)
class OfScores(Scores):
    """The same, of a bandit that plays the arm that released values choose."""

    released = ("score",)


@dataclass(frozen=True)
class Index(Algorithm):
    """In each round the arm with the best released sum, of all its rewards or of the last one."""

    how: str = ""
    horizon: int = 3
    n_arms: int = 1
    scale: float = 2.0
    block: int = 1
    halts: bool = False
    forgets: bool = False
    chosen: bool = False
    growth: float = 1.0
    name = "index"

    def private(self, run):
        return Kept(np.zeros((len(run), self.n_arms)))

    def start(self, run):
        zero = np.zeros((len(run), self.n_arms))
        return (OfScores if self.chosen else Scores)(run, 0 * run, zero, run < 0)

    def query(self, state):
        rounds = np.where(state.halted, 0, np.minimum(self.block, self.horizon - state.t))
        best = np.arange(self.n_arms) == state.score.argmax(axis=1)[:, None]
        return Query(state.t, rounds, best, rounds > 0)

    def release(self, state, memory, query, answer, noise):
        total = (0 if self.forgets else memory.total) + answer
        where = query.active
        total = np.where(where, total, memory.total)
        slot = state.t[:, None] * 100 + np.arange(self.n_arms)
        slot = slot % 100 if self.how == "one draw" else slot
        value = total**2 if self.how == "square" else total
        if self.how == "of all arms":
            value = value.sum(axis=1, keepdims=True) + 0 * value
        if self.how == "quiet end":
            where = where & (state.t < self.horizon - 1)[:, None]
        scale = self.scale / self.growth ** state.t[:, None] + 0 * value
        if self.how == "threshold":
            hidden = Hidden(lambda shown: 0.5)
            noise(Draw(0 * value, scale, state.run, slot + 50, where, hidden=hidden))
        if not self.halts:
            normal = self.how == "normal"
            return Kept(total), noise(Draw(value, scale, state.run, slot, where, normal=normal))
        gap = value - 5.0

        def outcome(noisy):
            return {"output": (noisy >= 0) * 1.0, "gap": gap}

        hidden = Hidden(lambda shown: shown["gap"] - gap, outcome)
        return Kept(total), outcome(noise(Draw(gap, scale, state.run, slot, where, hidden=hidden)))["output"]

    def decide(self, state, query, released):
        halted = (released > 0).any(axis=1) & (self.halts and self.how != "goes on")
        halted &= (self.how != "some go on") | (state.run % 2 == 0)
        score = state.score if self.halts else np.where(np.isnan(released), state.score, released)
        return replace(state, t=state.t + query.rounds, score=score, halted=state.halted | halted)


def chained(**more):
    reaches, blocks = certify.chained(Index(**more))
    return {reach.state: reach.terms for reach in reaches}, blocks


ON = "the run continues to the end"


def test_what_a_stream_comes_to():
    """A reward is in the sums of its round and of all later ones."""
    wanted = {f"reward {i + 1} is replaced; {ON}": ((1, 2, 3 - i),) for i in range(3)}
    assert chained() == (wanted, 3)
    assert chained(forgets=True) == ({f"reward {i + 1} is replaced; {ON}": ((1, 2, 1),) for i in range(3)}, 3)
    assert chained(scale=0.0, horizon=1) == ({f"reward 1 is replaced; {ON}": ((1, 0, 1),)}, 1)


def test_what_an_index_policy_comes_to():
    """Each arm is pulled throughout, once it was found to look best; the first round is of arm 1."""
    found, blocks = chained(n_arms=2)
    assert blocks == 3
    assert {state: terms for state, terms in found.items() if "throughout" in state} == {
        "reward 1 is replaced; arm 1 is pulled throughout": ((1, 2, 3),),
        "reward 2 is replaced; arm 1 is pulled throughout": ((1, 2, 2),),
        "reward 3 is replaced; arm 1 is pulled throughout": ((1, 2, 1),),
        "reward 1 is replaced; arm 2 is pulled throughout": ((1, 2, 1),),
        "reward 2 is replaced; arm 2 is pulled throughout": ((1, 2, 2),),
        "reward 3 is replaced; arm 2 is pulled throughout": ((1, 2, 1),),
    }
    others = {state for state in found if "throughout" not in state}
    assert others == {f"reward {i} is replaced; arms vary" for i in (1, 2, 3)}


def test_what_a_rule_that_halts_comes_to():
    """It pays for each comparison from its reward on, and may halt at any of them."""
    found, blocks = chained(halts=True)
    halts = {
        f"reward {i} is replaced; the run halts in block {k}": k + 1 - i
        for k in (1, 2, 3)
        for i in range(1, k + 1)
    }
    most = {f"the run halts in block {k}": k for k in (1, 2, 3)}
    assert blocks == 3
    ends = {
        state.partition("; ")[2]: sum(t[2] for t in terms)
        for state, terms in found.items()
        if ON not in state
    }
    assert ends == most
    assert {state for state in found if ON not in state} <= set(halts)
    assert {state: terms for state, terms in found.items() if ON in state} == {
        f"reward {i + 1} is replaced; {ON}": ((1, 2, 3 - i),) for i in range(3)
    }


OFF_THE_CHAIN = [
    ({"n_arms": 2, "block": 2}, "keeps private values over blocks of several arms"),
    ({"how": "normal"}, "adds normal noise to values that it keeps between blocks"),
    ({"horizon": 513}, "more than 512 blocks, and keeps private values between them"),
    ({"how": "square"}, "releases are not linear in the rewards"),
    ({"how": "one draw"}, "a draw is used twice in a run"),
    ({"n_arms": 2, "how": "of all arms"}, "a reward affects the releases of another arm"),
    ({"halts": True, "how": "goes on"}, "a run continues after a positive comparison"),
    ({"halts": True, "how": "some go on"}, "a run continues after a positive comparison"),
    (
        {"n_arms": 2, "chosen": True, "forgets": True, "growth": 1 + 1.03e-6, "horizon": 2},
        "depends on the path",
    ),
    ({"n_arms": 2, "chosen": True}, "the cost of a reward depends on the path"),
]


@pytest.mark.parametrize(("given", "words"), OFF_THE_CHAIN)
def test_what_is_no_chain(given, words):
    with pytest.raises(NotOfFormError, match=words):
        certify.chained(Index(**given))


def test_of_a_bandit_whose_rewards_all_cost_the_same_there_is_a_chain():
    found, _ = chained(n_arms=2, chosen=True, forgets=True)
    assert set(found.values()) == {((1, 2, 1),)}


def test_rounding_does_not_part_the_costs_of_rewards():
    assert chained(n_arms=2, chosen=True, forgets=True, growth=1 + 0.97e-6, horizon=2)[1] == 2


def test_a_reward_that_enters_no_release_costs_nothing():
    for more in ({}, {"n_arms": 2, "chosen": True}):
        found, _ = chained(how="quiet end", forgets=True, **more)
        assert set(found.values()) == {((1, 2, 1),), ()}
        assert {state for state, terms in found.items() if not terms} >= {
            f"reward 3 is replaced; {'arm 1 is pulled throughout' if more else ON}"
        }


def test_arms_and_rounds_of_other_scales_are_told_apart():
    found, _ = chained(n_arms=2, forgets=True, growth=2.0)
    throughout = {state: terms for state, terms in found.items() if "arm 2" in state}
    assert throughout == {
        f"reward {i + 1} is replaced; arm 2 is pulled throughout": ((1, 2 / 2**i, 1),) for i in range(3)
    }


def test_the_reward_of_the_block_in_which_a_run_halts_counts():
    found, _ = chained(halts=True, forgets=True, growth=4.0)
    ends = {state: terms for state, terms in found.items() if ON not in state}
    assert ends == {
        f"reward {k} is replaced; the run halts in block {k}": ((1, 2 / 4 ** (k - 1), 1),) for k in (1, 2, 3)
    }


def test_what_comparisons_cost_need_not_be_linear():
    assert chained(halts=True, how="threshold")[1] == 3


def test_comparisons_are_charged_where_all_other_rewards_are_extreme():
    """Of squares one reward of 1 among k - 1 others of 1 costs most."""
    found, _ = chained(halts=True, how="square")
    ends = [terms for state, terms in found.items() if state == f"reward 3 is replaced; {ON}"]
    assert ends == [((5, 2, 1),)]


def test_releases_of_chains_are_forced_far_apart_or_near():
    """Far, so that the policy's arm looks best; near for the two policies that mix, and for streams."""
    near = certify._OFFSETS
    for arms_, wanted in ((2, [1e6, -1e6, near[1], near[1], near[4]]), (1, [near[1]] * 4 + [near[4]])):
        policy, variant = np.array([0, 1, 2, 3, 2]), np.array([0, 0, 0, 0, 3])
        algorithm = Index(n_arms=arms_)
        chain = certify._Chain(algorithm, policy, 0 * policy, variant, (None, None), policy, policy)
        found = chain.offset(1, 0 * policy)(rows(np.zeros((5, 2))))
        assert found.tolist() == [[value, value] for value in wanted]


def test_a_stream_may_have_blocks_of_several_rounds():
    assert chained(block=2, horizon=4) == (
        {f"reward {i} is replaced; {ON}": ((1, 2, 3 - i),) for i in (1, 2)},
        2,
    )


def test_so_many_blocks_and_draws_are_held():
    """Of one policy 2 places in 6 variants, over 2 blocks, with 3 numbers each."""
    with mock.patch.object(certify, "MOST_BLOCKS", 2):
        assert chained(horizon=2)[1] == 2
    with mock.patch.object(certify, "MOST_BLOCKS", 1), pytest.raises(NotOfFormError, match="more than 1 bl"):
        chained(horizon=2)
    with mock.patch.object(certify, "_HELD", 1 * 2 * 6 * 2 * 3):
        assert chained(horizon=2)[1] == 2
    with mock.patch.object(certify, "_HELD", 71), pytest.raises(NotOfFormError, match="too many rounds"):
        chained(horizon=2)
    with mock.patch.object(certify, "_HELD", 4 * 2 * 6 * 2 * 4):  # of two arms two policies more
        assert chained(n_arms=2, horizon=2)[1] == 2
    with mock.patch.object(certify, "_HELD", 383), pytest.raises(NotOfFormError, match="too many rounds"):
        chained(n_arms=2, horizon=2)


# ---------------------------------------------------------------- certificates


def certified(algorithm, claim=None):
    return certify._certified(algorithm, claim or algorithm.claim, "alignment")


@dataclass(frozen=True)
class Uneven(Rounds):
    """Louder noise in later blocks."""

    def draws(self, state, query, answer):
        draw = super().draws(state, query, answer)
        return replace(draw, scale=draw.scale + state.t[:, None])


@dataclass(frozen=True)
class Hiding(Rounds):
    """Says how many reports hide each other."""

    def crowd(self, counts):
        return counts.sum(axis=1)


SHUFFLED = PrivacyClaim(1.0, 1e-3, observe="shuffled")


def test_the_states_of_a_certificate():
    found = certified(Uneven(horizon=6)).certificate
    assert found["form"] == "sums"
    assert [state["terms"] for state in found["states"]] == [[[1, 2, 1]], [[1, 4, 1]], [[1, 6, 1]]]
    assert found["cheaper"] == 0
    with mock.patch.object(certify, "_LISTED", 2):
        found = certified(Uneven(horizon=6)).certificate
    assert [state["terms"] for state in found["states"]] == [[[1, 2, 1]], [[1, 4, 1]]]
    assert found["cheaper"] == 1


@pytest.mark.parametrize(
    ("algorithm", "size", "epsilon", "method", "paths"),
    [
        (Rounds(), 1, 0.5, "states", 2),
        (Rounds(), 2, 1.0, "states", 2),
        (Rounds(scale=0.25), 1, 4.0, "states", 2),
        (Index(), 1, 1.5, "rounds", 3),
        (Index(), 3, 4.5, "rounds", 3),
    ],
)
def test_what_a_certificate_says(algorithm, size, epsilon, method, paths):
    kind = "event" if size == 1 else "group"
    found = certified(algorithm, PrivacyClaim(9.0, relation=Relation(kind, size)))
    assert (found.epsilon, found.method, found.paths) == (epsilon, method, paths)
    assert found.certificate["form"] == ("sums" if size == 1 else "group")


def test_what_a_certificate_of_normal_noise_says():
    found = certified(Rounds("normal"), PrivacyClaim(9.0, 1e-5))
    assert found.certificate["form"] == "normal"
    assert (found.delta, found.epsilon) == (1e-5, gdp_epsilon(0.5, 1e-5))
    assert found.premises[-1] == Premise(Taken.IDEAL_NOISE, {"noise": "normal"})
    of_laplace = certified(Rounds(), PrivacyClaim(9.0)).premises
    assert of_laplace[-1] == Premise(Taken.IDEAL_NOISE, {"noise": "Laplace"})
    assert of_laplace[:-1] == found.premises[:-1]
    for claim in (PrivacyClaim(9.0), PrivacyClaim(9.0, 1e-5, relation=Relation("group", 2))):
        with pytest.raises(NotOfFormError, match="normal noise needs a delta above 0, and is not supported"):
            certified(Rounds("normal"), claim)


def test_states_are_told_apart_by_all_their_parts():
    """Also by those of a part, and but for those that are free."""

    def key(total, t=0, free=()):
        state = Held(np.arange(1), np.array([t]), Kept(np.array([total])))
        return forced_runs.key_of(state, 0, free)

    assert key(1.0) == key(1.0)
    assert key(1.0) != key(2.0)
    assert key(1.0) != key(1.0, 1)
    assert key(1.0, free=("t",)) == key(1.0, 1, free=("t",))
    assert key(1.0, free=("total",)) == key(2.0, free=("total",))


@pytest.mark.parametrize(
    ("algorithm", "batches"),
    [
        (Rounds("reports", block=7), [[3, 0.5]]),  # only reports of the same arm hide each other: 4 and 3
        (Hiding("reports", block=7, horizon=7), [[7, 0.5]]),
        (Hiding("reports", n_arms=2, block=2, horizon=4), [[2, 0.5]]),
        (Rounds("reports", scale=0.0), [[1, "inf"]]),
        (Rounds("reports", scale=0.5), [[1, 2.0]]),
        (Hiding("reports", n_arms=3, block=3, horizon=9), [[3, 0.5]]),
        (Rounds("reports", block=4, horizon=7), [[1, 0.5]]),  # of the batches of one scale the smallest
    ],
)
def test_the_batches_of_a_certificate(algorithm, batches):
    with mock.patch.object(certify, "UpperBound", SimpleNamespace(of=lambda found, **_: found)):
        found = certified(replace(algorithm, horizon=7) if algorithm.block == 7 else algorithm, SHUFFLED)
    assert found == {"form": "clones", "batches": batches}


@pytest.mark.parametrize(
    ("algorithm", "claim"),
    [
        (Rounds(), SHUFFLED),  # no reports
        (Rounds("reports"), replace(SHUFFLED, relation=Relation("group", 2))),
    ],
)
def test_without_batches_nothing_is_shuffled(algorithm, claim):
    with pytest.raises(NotOfFormError, match="has no batches of reports"):
        certified(algorithm, claim)


def test_what_is_not_this_packages_own_code_is_not_certified():
    assert certify.certificate(Rounds(), Rounds().claim, "alignment") is None
    with mock.patch.object(certify, "ours", return_value=True):
        assert certify.certificate(Rounds(), Rounds().claim, "alignment").epsilon == 0.5
        assert certify.certificate(Rounds("square"), Rounds().claim, "alignment") is None
