"""How events are chosen on selection runs: the bound that a test will show, the caution for many looks."""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence.blackbox import events


@pytest.mark.parametrize(("cuts", "looks"), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 13), (1024, 31)])
def test_the_caution_for_many_thresholds_grows_with_how_many_looks_they_are(cuts, looks):
    """sqrt(1 + log(looks) / 5): three looks each time that the event doubles, and no more than thresholds."""
    assert events._many(cuts) == pytest.approx(math.sqrt(1 + math.log(looks) / 5))


def test_the_bound_that_a_test_will_show_takes_half_its_level_for_either_share():
    """Without caution p is the share itself; the test of 500 runs has two Clopper-Pearson limits at .025."""
    claim = {"delta": 0.1, "test_runs": 500, "caution": 0.0, "level": 0.05}
    found = events.promises(np.array([60.0]), np.array([9.5]), (100, 99), **claim)
    q = stats.beta.ppf(0.5, 10.0, 90.0)
    low = stats.beta.ppf(0.025, 300, 201)
    high = stats.beta.ppf(0.975, 500 * q + 1, 500 * (1 - q))
    assert found == pytest.approx([math.log((low - 0.1) / high)])
