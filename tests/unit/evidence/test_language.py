"""What paths that were not run may do: the judge of the language, with the black box switched off."""

from __future__ import annotations

import pytest

from tests.user_code import language
from verifiable_dp.evidence.symbolic.paths import Program, explore

HORIZON = 24


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
