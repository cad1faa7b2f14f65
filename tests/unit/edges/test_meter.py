"""Edges of the metered door: which promises add up, what a release costs, and when it is not shown."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.core import meter
from verifiable_dp.core.claims import PrivacyClaim, Relation
from verifiable_dp.core.meter import ROWS, Meter
from verifiable_dp.core.noise import Draw, Hidden
from verifiable_dp.core.query import Ask, Batch, Histogram, NoMemory, Query, State, Truncated
from verifiable_dp.core.rights import BudgetError

LIMIT = 1 * (1 + 1e-9)  # a billionth of the claim is rounding
BEYOND = math.nextafter(LIMIT, 2)
RUN = np.zeros(1, np.int64)


@pytest.mark.parametrize(
    ("claim", "adds_up"),
    [
        (None, False),
        (PrivacyClaim(1.0), True),
        (PrivacyClaim(1.0, observe="releases"), True),
        (PrivacyClaim(1.0, relation=Relation("group", 1)), True),
        (PrivacyClaim(1.0, relation=Relation("group", 2)), False),
        (PrivacyClaim(1.0, 1e-9), False),
        (PrivacyClaim.zcdp(0.5, 1e-6), False),
        (PrivacyClaim(1.0, observe="shuffled"), False),
    ],
)
def test_which_promises_are_metered(claim, adds_up):
    assert meter.metered(claim) is adds_up


# ---------------------------------------------------------------- how far a reward moves an answer


class Bare(Ask):
    """Says nothing of its spread."""


def query(pulls=((2, 1),), ask=None):
    """A block whose arms are pulled so often, in the first row of several."""
    pulls = np.array(pulls)
    return Query(0 * pulls[:, 0], pulls.sum(axis=1), pulls > 0, pulls[:, 0] >= 0, ask, pulls)


TWO = np.array([[1.0, 2.0], [9.0, 9.0]])


@pytest.mark.parametrize(
    ("ask", "pulls", "far"),
    [
        (None, ((2, 1),), [4, 4]),
        (None, ((2, 1), (1, 1), (1, 1)), [4, 4]),
        (Bare(), ((2, 1),), [14, 14]),
        (Truncated(TWO, TWO), ((2, 1), (1, 1)), [2, 4]),
        (Histogram(np.array([[0.0, 0.5, 1.0]])), ((2, 1, 0),), [1, 1, 1]),
    ],
)
def test_how_far_one_reward_moves_a_sum(ask, pulls, far):
    """By the range, by what is asked, or by twice the contribution."""
    algorithm = SimpleNamespace(bounds=(-1, 3), contribution=7)
    assert meter.farthest(algorithm, query(pulls, ask)).tolist() == far


@pytest.mark.parametrize(
    ("pulls", "shape", "moves"),
    [
        ([(2, 0, 1)], (1, 3), [[3, 0, 0], [-3, 0, 0], [0, 0, 3], [0, 0, -3]]),
        ([(2, 0, 1), (0, 1, 0)], (1, 3), [[3, 0, 0], [-3, 0, 0], [0, 0, 3], [0, 0, -3]]),
        ([(0, 1)], (1, 2, 1), [[[0], [3]], [[0], [-3]]]),
        (
            [(0, 1)],
            (1, 2, 2),
            [[[0, 0], [3, 0]], [[0, 0], [-3, 0]], [[0, 0], [0, 3]], [[0, 0], [0, -3]]],
        ),
    ],
)
def test_which_changes_are_tried(pulls, shape, moves):
    """Of each arm that was pulled, up and down, and of each number asked."""
    algorithm = SimpleNamespace(bounds=(0, 3))
    assert meter._moves(algorithm, query(pulls), np.zeros(shape)).tolist() == moves


@pytest.mark.parametrize("shape", [(1, 2), (1, 2, 3)])
def test_of_a_block_without_pulls_nothing_is_changed(shape):
    algorithm = SimpleNamespace(bounds=(0, 3))
    assert meter._moves(algorithm, query([(0, 0)]), np.zeros(shape)).shape == (0, *shape[1:])


THREE = Histogram(np.array([[0.0, 1.0, 2.0, 3.0]]))
PAIR = Histogram(np.array([[0.0, 1.0, 2.0]]))
ONE = Histogram(np.array([[0.0, 1.0]]))


@pytest.mark.parametrize(
    ("costs", "ask", "pulls", "dearest"),
    [
        ([], None, [(0, 0)], 0.0),
        ([], THREE, [(0, 0)], 0.0),
        ([1, 3, 2, 0], None, [(2, 1)], 3.0),
        ([1, 3, 2, 0], ONE, [(2, 1)], 3.0),
        ([1, 3, 2, 0], PAIR, [(2, 0)], 5.0),
        # One number grows and another falls: the two dearest of an arm, each in its dearer direction.
        ([1, 3, 2, 0, 4, 5], THREE, [(1, 0)], 8.0),
        ([1, 3, 2, 0, 4, 5], THREE, [(1, 0), (1, 1)], 8.0),
        ([1, 3, 2, 0, 4, 5, 0, 6, 7, 1, 0, 0], THREE, [(3, 1)], 13.0),
        ([0, 6, 7, 1, 0, 0, 1, 3, 2, 0, 4, 5], THREE, [(3, 0, 1)], 13.0),
        ([6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0], THREE, [(1, 1)], 7.0),  # never of two arms
    ],
)
def test_what_the_dearest_reward_costs(costs, ask, pulls, dearest):
    assert meter._dearest(np.array(costs, float), query(pulls, ask)) == dearest


# ---------------------------------------------------------------- which runs are followed


@dataclass(frozen=True)
class Sum(Batch):
    """A memory."""

    total: np.ndarray


@dataclass(frozen=True)
class Nested(Batch):
    """A memory of several parts."""

    nothing: None
    inner: Batch
    flags: np.ndarray


@dataclass(frozen=True)
class Empty(Batch):
    """A memory without fields."""


def totals(*values):
    return Sum(np.array(values, float))


@pytest.mark.parametrize(
    ("values", "apart"),
    [
        ([[1.0], [1.0], [2.0]], [False, False, True]),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]], [False, False, True]),
        ([[1.0, 2.0], [3.0, 2.0], [3.0, 3.0]], [False, True, True]),
        ([[[1.0, 2.0]], [[1.0, 2.5]], [[1.0, 2.0]]], [False, True, False]),
        ([[math.nan], [math.nan], [1.0]], [False, False, True]),
        ([[1.0], [math.nan], [1.0]], [False, True, False]),
        ([[1.0]], [False]),
    ],
)
def test_what_is_not_the_first(values, apart):
    assert meter._apart(np.array(values)).tolist() == apart


@pytest.mark.parametrize(
    ("rows", "apart"),
    [
        (totals(1, 2, 1), [False, True, False]),
        (Nested(None, totals(1, 1, 2), np.array([True, True, True])), [False, False, True]),
        (Nested(None, totals(1, 1, 1), np.array([True, False, True])), [False, True, False]),
        (Nested(None, totals(1, 2, 1), np.array([True, True, False])), [False, True, True]),
        (Empty(), []),
    ],
)
def test_which_memories_differ(rows, apart):
    assert meter._differs(rows).tolist() == apart


def spread(count):
    """Rows of which so many differ from the first."""
    return totals(0, 0, *range(1, count + 1))


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (NoMemory(np.arange(5)), [0]),
        (totals(0, 0, 0), [0]),
        (totals(0, 1, 0, 2), [0, 1, 3]),
        (spread(ROWS), [0, *range(2, ROWS + 2)]),
        (spread(ROWS + 1), [0, *range(2, ROWS // 2 + 2), *range(ROWS // 2 + 3, ROWS + 3)]),
        (spread(2 * ROWS - 1), [0, *range(2, 2 * ROWS + 1, 2)]),  # evenly spread, with the ends
    ],
)
def test_which_runs_are_kept(rows, kept):
    assert meter._kept(rows, rows).tolist() == kept


# ---------------------------------------------------------------- the other runs


def draw(value, scale=1.0, where=True, **other):
    value = np.array(value, float)
    wide = {name: np.broadcast_to(given, value.shape) for name, given in (("scale", scale), ("where", where))}
    slot = np.zeros(value.shape, np.int64)
    return Draw(value, run=np.zeros(len(value), np.int64), slot=slot, **wide, **other)


def other(*asked, recorded=None):
    """What two other runs cost, and are answered, that ask for this; the run itself was answered 10."""
    recorded = [draw([[0.0]])] if recorded is None else recorded
    runs = meter._Other([(real, real.value + 10) for real in recorded], 2)
    answers = [runs(one) for one in asked]
    return runs.costs().tolist(), answers


INF = [math.inf, math.inf]
SCALE_IN, SCALE_OVER = 1 + 0.98e-9, 1 + 1.02e-9
NOTHING = Hidden(shift=lambda shown: 0.0)


@pytest.mark.parametrize(
    ("asked", "recorded", "costs"),
    [
        ([draw([[0], [0]])], None, [0, 0]),
        ([draw([[0], [0.5]])], None, [0, 0.5]),
        ([draw([[0], [-0.5]])], None, [0, 0.5]),
        ([draw([[0], [0.5]], 0.25)], [draw([[0]], 0.25)], [0, 2]),
        ([draw([[0], [0]], 0.0)], [draw([[0]], 0.0)], [0, 0]),  # an exact value that is the same
        ([draw([[0], [1e-9]], 0.0)], [draw([[0]], 0.0)], [0, math.inf]),
        ([draw([[0.5, 0], [0.5, 0.25]])], [draw([[0, 0]])], [0.5, 0.75]),
        # Where nothing is drawn nothing is paid.
        (
            [draw([[5, 0], [5, 0.25]], where=[[False, True]])],
            [draw([[0, 0]], where=[[False, True]])],
            [0, 0.25],
        ),
        (
            [draw([[5, 0], [5, 0.25]], [[9, 1]], [[False, True]])],
            [draw([[0, 0]], 1, [[False, True]])],
            [0, 0.25],
        ),
        # One draw after the other.
        ([draw([[0.5], [1]]), draw([[0], [1]])], [draw([[0]])] * 2, [0.5, 2]),
        ([draw([[1], [1]]), draw([[2], [2]])], [draw([[1]]), draw([[2]])], [0, 0]),
        # More or fewer draws.
        ([], None, INF),
        ([draw([[0], [0]])], [draw([[0]])] * 2, INF),
        ([draw([[0], [0]])] * 2, None, INF),
        ([draw([[0], [0]])] * 3, None, INF),
        # Other draws.
        ([draw([[0, 0, 0], [0, 0, 0]])], None, INF),
        ([draw([[0], [0]], hidden=NOTHING)], None, INF),
        ([draw([[0], [0]])], [draw([[0]], hidden=NOTHING)], INF),
        ([draw([[0], [0]], hidden=NOTHING)], [draw([[0]], hidden=NOTHING)], [0, 0]),
        ([draw([[0, 0], [0, 0]], where=[[True, True], [True, False]])], [draw([[0, 0]])], [0, math.inf]),
        ([draw([[0], [0]], [[SCALE_IN], [SCALE_OVER]])], None, [0, math.inf]),
        ([draw([[0], [0]], [[2], [1]])], None, [math.inf, 0]),
        ([draw([[0, 0], [0, 0]], [[1, 1], [1, 2]])], [draw([[0, 0]])], [0, math.inf]),
        ([draw([[0], [0]], normal=True)], [draw([[0]], normal=True)], INF),
        ([draw([[0], [0]], freedom=1)], [draw([[0]], freedom=1)], INF),
    ],
)
def test_what_the_other_runs_cost(asked, recorded, costs):
    assert other(*asked, recorded=recorded)[0] == pytest.approx(costs, rel=1e-8)


def test_the_other_runs_are_answered_as_the_run_itself():
    recorded = [draw([[0.0, 1.0]]), draw([[3.0]])]
    answers = other(draw([[0, 1], [0.5, 1]]), draw([[3], [3]]), draw([[7], [8]]), recorded=recorded)[1]
    assert [a.tolist() for a in answers] == [[[10, 11], [10, 11]], [[13], [13]], [[7], [8]]]


@pytest.mark.parametrize("recorded", [[], [draw([[0.0]])]])
def test_where_no_draw_was_recorded_the_other_runs_see_their_own_values(recorded):
    _, [answer] = other(draw([[7, 8], [5, 6]], where=[[True, False], [True, True]]), recorded=recorded)
    assert answer[0, 0] == 7
    assert np.isnan(answer[0, 1])
    assert answer[1].tolist() == [5, 6]


def compared(value, shift):
    """A hidden draw whose outcome is whether the answer is at least 10."""
    hidden = Hidden(lambda shown: np.where(shown["output"] > 0, shift, 0.0), _at_least)
    return draw(value, hidden=hidden)


def _at_least(noisy):
    return {"output": (noisy >= 10.0).astype(float)}


@pytest.mark.parametrize(
    ("real", "value", "shift", "costs", "answers"),
    [
        ([[0.0]], [[0], [-0.5]], 0.0, [0, math.inf], [10, 9.5]),  # another outcome
        ([[0.0]], [[0], [-0.5]], 0.5, [0.5, 0.5], [10.5, 10]),
        ([[0.0]], [[0], [-0.5]], 0.25, [0.25, math.inf], [10.25, 9.75]),
        ([[0.0]], [[0.5], [0.5]], -0.5, [0.5, 0.5], [10, 10]),
        ([[-1.0]], [[-1], [-0.5]], 0.5, [0, 0], [9, 9.5]),  # it was not positive: no shift
        ([[-1.0]], [[-1], [0.0]], 0.5, [0, math.inf], [9, 10]),
    ],
)
def test_hidden_noise_moves_as_declared(real, value, shift, costs, answers):
    found, [answer] = other(compared(value, shift), recorded=[compared(real, shift)])
    assert (found, answer[:, 0].tolist()) == (costs, answers)


def test_a_threshold_moves_without_an_outcome():
    hidden = Hidden(lambda shown: 0.5)
    found, [answer] = other(
        draw([[0], [0]], 0.25, hidden=hidden), recorded=[draw([[0]], 0.25, hidden=hidden)]
    )
    assert (found, answer.tolist()) == ([2, 2], [[10.5], [10.5]])


# ---------------------------------------------------------------- a release


@dataclass(frozen=True)
class Releasing:
    """Releases the answer of arm 1, with what it has in memory, and `base` of alignment in each run."""

    epsilon: float = 1.0
    scale: float = 1.0
    high: float = 0.5
    base: float = 0.0
    bit: float = 0.0
    memory: bool = False
    name = "releasing"

    @property
    def bounds(self):
        return (0.0, self.high)

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon)

    def private(self, run):
        assert len(run) == 1
        return totals(0) if self.memory else NoMemory(run)

    def release(self, state, memory, query, answer, noise):
        total = memory.total if self.memory else np.zeros(len(answer))
        noise(draw(np.zeros((len(answer), 1)), hidden=Hidden(lambda shown: self.base)))
        out = noise(draw(answer[:, :1] + total[:, None], self.scale))
        after = Sum(total + answer[:, 0]) if self.memory else memory
        return after, out + self.bit * (answer[:, :1] > 1.0)


def released(algorithm, before=None, answer=1.0):
    """The meter after a release."""
    before, drawn = before or Meter(), []

    def noise(asked):
        drawn.append((asked, asked.value + 3.0))
        return drawn[-1][1]

    state, asked, answers = State(RUN, RUN), query([(2, 0)]), np.array([[answer, 0.0]])
    mine = before.rows.take(RUN) if before.rows is not None else algorithm.private(RUN)
    memory, shown = algorithm.release(state, mine, asked, answers, noise)
    return before.charged(algorithm, state, memory, asked, answers, drawn, shown)


@pytest.mark.parametrize(
    ("algorithm", "before", "spent", "base", "cost"),
    [
        (Releasing(), None, 0.5, 0, [0]),
        (Releasing(high=LIMIT), None, LIMIT, 0, [0]),
        (Releasing(epsilon=0.5, high=0.5 * LIMIT), None, 0.5 * LIMIT, 0, [0]),
        (Releasing(scale=2.0), None, 0.25, 0, [0]),
        (Releasing(base=0.25), None, 0.75, 0.25, [0.25]),
        (Releasing(base=0.25), Meter(0.5, 0.125, None, np.array([0.125])), 0.875, 0.375, [0.375]),
        (Releasing(), Meter(0.75), 0.75, 0, [0]),  # each reward is in one block
        (Releasing(memory=True), None, 0.5, 0, [0, 0.5, 0.5]),
        # A run of before that still differs pays again, here 0.25, and those that join pay from the base on.
        (
            Releasing(memory=True),
            Meter(0.0, 0.0, totals(0, 0.25), np.array([0, 0.5])),
            0.75,
            0,
            [0, 0.75, 0.5, 0.5],
        ),
        (
            Releasing(memory=True, base=0.125),
            Meter(0.0, 0.25, totals(0, 0.125), np.array([0.25, 0.25])),
            0.875,
            0.375,
            [0.375, 0.5, 0.875, 0.875],
        ),
        # What has the memory of the run itself again is dropped, and what it paid is not forgotten.
        (
            Releasing(memory=True, high=0.25),
            Meter(0.0, 0.0, totals(0, 0), np.array([0, 0.9])),
            0.9,
            0,
            [0, 0.25, 0.25],
        ),
    ],
)
def test_what_a_release_costs(algorithm, before, spent, base, cost):
    after = released(algorithm, before)
    assert (after.spent, after.base) == (spent, base)
    assert after.cost.tolist() == pytest.approx(cost)
    assert len(next(iter(vars(after.rows).values()))) == len(cost)


@pytest.mark.parametrize(
    ("algorithm", "before", "cost"),
    [
        (Releasing(high=BEYOND), None, "1"),
        (Releasing(high=1.5), None, "1.5"),
        (Releasing(high=1.5), Meter(0.75), "1.5"),
        (Releasing(scale=0.0), None, "inf"),
        (Releasing(bit=1e-12), None, "inf"),  # what is shown does not follow from what was drawn
        (Releasing(base=0.75), None, "1.25"),
        (Releasing(), Meter(0.0, 0.75), "1.25"),
        (Releasing(memory=True), Meter(0, 0, totals(0, 0.5), np.array([0, 0.75])), "1.25"),
    ],
)
def test_what_is_not_shown(algorithm, before, cost):
    with pytest.raises(BudgetError, match=f"a reward would cost {cost}, more than the 1 that releasing"):
        released(algorithm, before)


CLAIM = PrivacyClaim(1.0)


@pytest.mark.parametrize(
    ("before", "cost", "spent"),
    [(0.0, 0.5, 0.5), (0.75, 0.5, 0.75), (0.0, LIMIT, LIMIT), (0.0, 1.0, 1.0)],
)
def test_what_a_report_costs(before, cost, spent):
    assert Meter(before).reported(cost, CLAIM, "it").spent == spent


@pytest.mark.parametrize("cost", [BEYOND, 1.5, math.inf, math.nan])
def test_a_report_that_is_not_taken(cost):
    with pytest.raises(BudgetError, match=r"a report would cost .*, more than the 1 that it promises"):
        Meter().reported(cost, CLAIM, "it")
