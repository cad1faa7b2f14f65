"""A draw that is compared, and functions of NumPy's on numbers that hold no noise yet."""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.draw_sources import itself as _itself
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.uniform_draws import UniformDraw


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
    assert found(NOT_FOLLOWED[name]).failure == f"np.{name} of raw rewards has no bound"
