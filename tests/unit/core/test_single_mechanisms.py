"""Mechanisms of one draw or two: their scales, what they cost, and how their noise moves."""

import math

import numpy as np
import pytest

from verifiable_dp.core.mechanisms import above_threshold, laplace
from verifiable_dp.core.validate import InputError

RUN = np.arange(2)
SLOT = np.array([3, 4])
BOTH = np.array([True, True])


class Asked:
    """A source that adds a known number and keeps what it was asked for."""

    def __init__(self, added=0.0):
        self.added, self.draws = added, []

    def __call__(self, draw):
        self.draws.append(draw)
        return np.where(draw.where, draw.value + self.added, np.nan)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "scale"), [(1.0, 0.5, 2.0), (3.0, 1.5, 2.0), (0.5, 1.0, 0.5)]
)
def test_laplace(sensitivity, epsilon, scale):
    mechanism, noise = laplace.Laplace(sensitivity, epsilon), Asked(0.25)
    where = np.array([[True, True], [True, False]])
    out = mechanism.release(np.ones((2, 2)), noise, RUN, np.zeros((2, 2), int), where)
    [draw] = noise.draws
    assert (mechanism.scale, mechanism.cost()) == (scale, epsilon)
    assert draw.scale.tolist() == [[scale] * 2] * 2
    assert np.array_equal(out, [[1.25, 1.25], [1.25, math.nan]], equal_nan=True)


@pytest.mark.parametrize(("shift", "cost"), [(0.0, 0.0), (1.0, 0.5), (-1.0, 0.5), (-2.0, 1.0)])
def test_what_a_shift_costs(shift, cost):
    assert laplace.Laplace(1.0, 0.5).cost(shift) == cost


@pytest.mark.parametrize(("shift", "cost"), [(None, math.inf), (0.0, 0.0), (1e-9, math.inf)])
def test_exact_values_cost_everything(shift, cost):
    noise = Asked()
    out = laplace.Exact().release(np.ones((2, 1)), noise, RUN, SLOT[:, None], BOTH[:, None])
    assert laplace.Exact().cost(shift) == cost
    assert (noise.draws[0].scale.tolist(), out.tolist()) == ([[0.0]] * 2, [[1.0]] * 2)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda x: laplace.Laplace(x, 1.0), "sensitivity"),
        (lambda x: laplace.Laplace(1.0, x), "epsilon"),
        (lambda x: above_threshold.AboveThreshold(x, 1.0, 1.0), "sensitivity"),
        (lambda x: above_threshold.AboveThreshold(1.0, x, 1.0), "threshold_scale"),
        (lambda x: above_threshold.AboveThreshold(1.0, 1.0, x), "query_scale"),
    ],
)
@pytest.mark.parametrize("wrong", [0.0, -1.0, math.inf, math.nan])
def test_numbers_that_are_refused(make, name, wrong):
    with pytest.raises(InputError, match=name):
        make(wrong)


RULE = above_threshold.AboveThreshold(0.5, 2.0, 4.0)


def test_the_cost_of_all_answers():
    assert RULE.cost() == 0.5 / 2 + 2 * 0.5 / 4


def test_the_noise_of_a_threshold():
    noise = Asked(7.0)
    assert RULE.threshold_noise(noise, RUN, SLOT).tolist() == [7.0, 7.0]
    [draw] = noise.draws
    assert (draw.scale.tolist(), draw.slot.tolist()) == ([[2.0]] * 2, [[3], [4]])
    assert draw.where.all()
    assert draw.hidden.shift({}) == 0.5  # up by the sensitivity
    assert draw.hidden.outcome is None


@pytest.mark.parametrize(
    ("gap", "nu", "rho", "above"),
    [
        (0.0, 1.0, 1.0, 1.0),
        (0.0, 1.0, math.nextafter(1.0, 2), 0.0),
        (-1.0, 1.0, 0.0, 1.0),
        (-1.5, 1.0, 0.0, 0.0),
    ],
)
def test_an_answer(gap, nu, rho, above):
    noise = Asked(nu)
    where = np.array([True, False])
    found = RULE.answer(np.array([gap, gap]), np.array([rho, rho]), noise, RUN, SLOT, where)
    assert np.array_equal(found, [above, math.nan], equal_nan=True)
    assert noise.draws[0].scale.tolist() == [[4.0]] * 2


@pytest.mark.parametrize(("output", "before", "shift"), [(1.0, 0.25, 0.5 + 0.25 - 1.0), (0.0, 0.25, 0.0)])
def test_the_noise_of_a_positive_answer_moves(output, before, shift):
    """By the sensitivity and the difference of the queries; that of a negative one stays."""
    noise = Asked()
    RULE.answer(np.array([1.0]), np.zeros(1), noise, RUN[:1], SLOT[:1], BOTH[:1])
    shown = {"output": np.array([[output]]), "gap": np.array([[before]])}
    assert noise.draws[0].hidden.shift(shown).tolist() == [[shift]]


def test_rounding_is_allowed_for():
    noise = Asked()
    RULE.threshold_noise(noise, RUN, SLOT)
    assert 0 < noise.draws[0].excess < 1e-5
