"""Bounds of bandits that keep their rewards in pandas."""

import pytest

from tests.user_code import frames
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore


def _explored(play):
    return explore(Program(play, (16, 2), (0.0, 1.0)), 2, most=6)


RIGHT = {name: play for name, play in frames.RIGHT.items() if name != "located"}


def test_rows_that_a_mask_locates_have_no_bound():
    """Outside of the language: a mask of a column of what data stand in counts as drawn."""
    assert "reads data or noise from a table" in _explored(frames.RIGHT["located"]).failure


@pytest.mark.parametrize("play", RIGHT.values(), ids=RIGHT)
def test_sums_of_columns_cost_what_their_noise_hides(play):
    found = _explored(play)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(frames.EPSILON))


@pytest.mark.parametrize("play", frames.WRONG.values(), ids=frames.WRONG)
def test_frames_that_leak_have_no_bound_within_the_claim(play):
    assert _explored(play).epsilon() >= 2 * frames.EPSILON * (1 - 1e-9)
