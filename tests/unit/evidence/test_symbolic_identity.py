"""Questions that ask no method of a tracked number: they end the bound, or are answered truthfully."""

from __future__ import annotations

import pytest

from tests.user_code import identities
from verifiable_dp.evidence.symbolic.bounded_programs import PathFound, Program
from verifiable_dp.evidence.symbolic.paths import explore


def found(function, *, most=14) -> PathFound:
    return explore(Program(function, (20, 2), (0.0, 1.0)), 2, most=most)


@pytest.mark.parametrize("name", identities.LEAKS)
def test_a_number_is_not_told_by_identity_or_type(name):
    """Broken variants: `calls.identical`, `asked` or `World.claims` answering as Python does."""
    got = found(identities.LEAKS[name], most=2)
    assert got.failure, f"bound {got.epsilon()} of a program that leaks"


def test_code_that_could_not_be_rewritten_is_told_of_where_it_is_called():
    """Before anything that it asks is answered. Broken variant: no instruction is barred."""
    assert "could not be rewritten" in found(identities.LEAKS["held_where_nothing_leads"], most=2).failure


@pytest.mark.parametrize("play", identities.RIGHT, ids=lambda f: f.__name__)
def test_questions_about_public_things_end_no_bound(play):
    got = found(play)
    assert (got.words(), got.epsilon()) == ("", pytest.approx(1.0))
