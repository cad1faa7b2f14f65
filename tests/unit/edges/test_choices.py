"""How events are chosen on selection runs: the bound that a test will show, the caution for many looks."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence.blackbox import curves, events


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


@dataclass(frozen=True)
class Cut:
    """An event that is known by its cut."""

    cut: float = 0.0


def seen(p, q, runs=(40, 50)):
    return curves._Seen(Cut(), np.arange(len(p)) + 1.0, np.array(p), np.array(q), runs)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_point_of_a_curve_at_a_delta_is_sure_by_two_limits(delta):
    """Each is a Clopper-Pearson limit at 2.5 standard errors; five hits are too few to be chosen."""
    level = stats.norm.cdf(-2.5)
    worth = [
        math.log(max(stats.beta.ppf(level, k, 41 - k) - delta, 1e-300))
        - math.log(stats.beta.ppf(1 - level, n + 1, 50 - n))
        for k, n in ((20, 5), (10, 0), (6, 40))
    ]
    for some in ((0, 1, 2), (1, 2), (2,)):
        p, q = np.array([20, 10, 6, 5])[[*some, 3]] / 40, np.array([5, 0, 40, 0])[[*some, 3]] / 50
        best = max(some, key=worth.__getitem__)
        found, event = seen(p, q).at_delta(delta)
        assert (found, event) == (pytest.approx(worth[best]), Cut(1.0 + some.index(best)))
    found, event = seen([5 / 40], [0.0]).at_delta(delta)
    assert (found, event.cut) == (-math.inf, 1.0)
    assert seen([], []).at_delta(delta) == (-math.inf, Cut())


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_a_point_of_a_curve_at_an_epsilon_is_sure_by_standard_errors(epsilon):
    p, q, factor = [0.5, 0.25], [0.125, 0.0], math.exp(epsilon)
    worth = []
    for a, b in zip(p, q, strict=True):
        k, n = (a * 40 + 0.5) / 41, (b * 50 + 0.5) / 51
        error = math.sqrt(k * (1 - k) / 40 + factor**2 * n * (1 - n) / 50)
        worth.append(a - factor * b - 2.5 * error)
    for some in ((0, 1), (1,), (0,)):
        best = max(some, key=worth.__getitem__)
        found, event = seen([p[i] for i in some], [q[i] for i in some]).at_epsilon(epsilon)
        assert (found, event) == (pytest.approx(worth[best]), Cut(1.0 + some.index(best)))
