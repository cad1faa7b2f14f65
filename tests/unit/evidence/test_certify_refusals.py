"""What the certificate of our own algorithms refuses, each refusal by itself, with what it grants beside
it.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.core.noise import Draw, Hidden
from verifiable_dp.core.query import Histogram, Truncated
from verifiable_dp.evidence import certify
from verifiable_dp.evidence.certify import NotOfFormError

ACTIVE = np.ones((1, 2), bool)


def reach(bounds, limit=None, centre=0.0):
    """The least and the largest value that a reward within `bounds` adds to a sum."""
    ask = None if limit is None else Truncated(np.full((1, 2), limit), np.full((1, 2), centre))
    least, most = certify._range(SimpleNamespace(bounds=bounds), SimpleNamespace(active=ACTIVE, ask=ask))
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


def test_a_question_of_unknown_sensitivity_is_refused():
    query = SimpleNamespace(active=ACTIVE, ask=Histogram(np.array([[0.0, 1.0]])))
    with pytest.raises(NotOfFormError, match="Histogram has no known sensitivity"):
        certify._range(SimpleNamespace(bounds=(0, 1)), query)


@pytest.mark.parametrize(
    ("cost", "linear"),
    [
        ([1.0, 0.5, 3.0, 1.5], True),
        ([1.0, 0.5, 3.0, 1.5 * (1 + 0.9e-6)], True),
        ([1.0, 0.5, 3.0, 1.5 * (1 + 1.1e-6)], False),
        ([1.0, 0.5 * (1 + 1.1e-6), 3.0, 1.5], False),
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
        certify._linear(*given)
    else:
        with pytest.raises(NotOfFormError, match="not linear in the rewards"):
            certify._linear(*given)


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
    forced = certify._Forced(RUN, lambda draw: 0 * draw.value + 0.5)
    forced(first or draw())
    echo = certify._Echo(forced.calls)
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
        certify._Forced(RUN, lambda draw: 0 * draw.value)(draw(run=RUN + 1))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (None, None, True),
        (None, np.zeros(1), False),
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-13, np.nan]), True),
        (np.array([1.0]), np.array([1.0 + 1e-11]), False),
        (np.array([0.0]), np.array([1e-300]), False),
        (np.array([1.0]), np.array([[1.0]]), False),
        (np.array([1.0]), np.array([np.nan]), False),
    ],
)
def test_what_is_equal_to_the_last_bits(left, right, equal):
    assert certify._equal(left, right) == equal


@pytest.mark.parametrize(
    ("terms", "cost"),
    [((), 0.0), (((1.0, 2.0, 3),), 1.5), (((1.0, 2.0, 3), (4.0, 2.0, 1)), 3.5), (((1.0, 0.0, 1),), np.inf)],
)
def test_what_a_state_costs(terms, cost):
    assert certify.Reach("s", terms).cost == cost
