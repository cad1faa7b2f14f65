"""What paths that were not run may do: the judge of the language, with the black box switched off."""

from __future__ import annotations

import pytest

from tests.user_code import held, language
from verifiable_dp.evidence.symbolic.paths import Program, explore

HORIZON = 24


def by_night(plays, by_day):
    """Parameters, of which those that are not named wait for the night."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(f, id=f.__name__, marks=marks[f.__name__ in by_day]) for f in plays]


def found(function, most=6):
    return explore(Program(function, (HORIZON, 2), (0.0, 1.0)), 2, most=most)


@pytest.mark.parametrize("play", language.LEAKS, ids=lambda f: f.__name__)
def test_what_a_draw_decides_without_a_branch_has_no_bound(play):
    got = found(play)
    assert got.epsilon() == float("inf")
    assert got.at is not None
    assert got.at.line > 0


@pytest.mark.parametrize("play", language.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_keep_their_bound(play):
    got = found(play)
    assert got.words() == ""
    assert got.epsilon() <= 1 + 1e-9


# Of what modules hold, a few by day and all of them by night.
BY_DAY = ("fd", "wk", "bound_getitem", "partial_positional", "decorated_table", "kwdefault", "slots")


@pytest.mark.parametrize("play", by_night(held.LEAKS, BY_DAY))
def test_what_modules_hold_is_known_or_has_no_bound(play):
    assert found(play).epsilon() > 100


def test_what_is_not_known_is_told_where_it_is_called():
    """Nothing else tells of it. Broken variant: what is called need not be known."""
    got = found(held.bound_getitem)
    assert got.failure == "calls what is not known before it runs"
    assert got.at.line > 0


@pytest.mark.parametrize("play", held.RIGHT, ids=lambda f: f.__name__)
def test_what_modules_hold_and_nothing_chooses_is_known(play):
    got = found(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))
