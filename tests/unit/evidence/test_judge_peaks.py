"""What noise by itself may set: how much noise there is, how much data counts."""

from __future__ import annotations

import pytest

from tests.user_code import peaks
from verifiable_dp.evidence.judge.values import STEEP, Value
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore


def bound(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=6).epsilon()


@pytest.mark.parametrize("play", peaks.LEAKS, ids=lambda f: f.__name__)
def test_what_may_have_a_peak_in_the_noise_sets_nothing(play):
    assert bound(play) > 100


@pytest.mark.parametrize("play", peaks.RIGHT, ids=lambda f: f.__name__)
def test_what_is_told_of_noise_may_be_used(play):
    assert bound(play) <= 1 + 1e-9


@pytest.mark.parametrize("play", peaks.ONE_WAY, ids=lambda f: f.__name__)
def test_right_programs_that_noise_scales_have_no_bound(play):
    """Paths see it at its ends, but nothing random sets how much noise there is."""
    assert bound(play) == float("inf")


@pytest.mark.parametrize("play", peaks.LEAKS, ids=lambda f: f.__name__)
def test_without_the_rule_such_a_leak_has_a_bound(play, monkeypatch):
    monkeypatch.setattr(Value, "varies", property(lambda value: value.level >= STEEP and not value.data))
    assert bound(play) == pytest.approx(1.0)
