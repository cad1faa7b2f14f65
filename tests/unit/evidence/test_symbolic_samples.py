"""Secret samples are amplified in the forms in which users write them, and only where they stay secret."""

import pytest

from tests.user_code import subsampled
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore


def _explored(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=10)


@pytest.mark.parametrize("play", subsampled.RIGHT.values(), ids=subsampled.RIGHT)
def test_a_secret_sample_costs_less_than_its_noise(play):
    found = _explored(play)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(subsampled.EPSILON))


@pytest.mark.parametrize("play", subsampled.WRONG.values(), ids=subsampled.WRONG)
def test_a_sample_that_is_seen_or_used_twice_costs_more(play):
    assert _explored(play).epsilon() > 1.2 * subsampled.EPSILON
