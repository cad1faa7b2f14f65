"""Noise that is small only where public chance comes out as it hardly ever does."""

from __future__ import annotations

import pytest

from tests.user_code import rare, rare_right
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

WORDS = (
    "how much noise there is, or how much data counts, depends on a draw",
    "the number of turns of a loop depends on a draw",
    "takes an amount of data or noise that depends on a draw",
    *(
        f"gives {name} data or noise with a number that may be special for rare draws"
        for name in ("max", "min", "clip")
    ),
)


def found(function):
    return explore(Program(function, (40, 2), (0.0, 1.0)), 2, most=14)


@pytest.mark.parametrize("play", rare.FOUND, ids=lambda f: f.__name__)
def test_the_leaks_that_an_attack_came_up_with_have_no_bound_within_the_claim(play):
    assert found(play).epsilon() > 100


@pytest.mark.parametrize("play", rare.LEAKS + rare.OWN, ids=lambda f: f.__name__)
def test_noise_that_rare_outcomes_may_set_has_no_bound(play):
    got = found(play)
    assert (got.failure in WORDS, got.at.line > 0) == (True, True)


def test_coins_in_a_loop_that_is_no_function_have_no_bound():
    assert found(rare.coins_in_a_loop).failure


@pytest.mark.parametrize("play", rare.ENDS, ids=lambda f: f.__name__)
def test_public_draws_that_are_all_alike_are_looked_at(play):
    assert found(play).epsilon() > 999


@pytest.mark.parametrize("play", rare_right.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_keep_their_bound(play, request):
    if play in rare_right.SUMS:
        request.applymarker(pytest.mark.xfail(strict=True, reason="a sum of draws may set no scale"))
    got = found(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))
