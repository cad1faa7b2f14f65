"""The levels, margins and limits that verdicts rest on: each is a decision that a reader is told.

A judge that is right at its edges is wrong all the same if the edge lies elsewhere. Where a value stands in
the documents or in a formula, the row says so.

Then, how events are chosen: the bound that a test will show, and the caution for many looks.
"""

import importlib
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence.blackbox import curves, events

LEVELS = [
    # refutations, contradictions, and what is stated beside them
    ("evidence.blackbox.test", "ALPHA", 1e-6),  # docs: "at family-wise error 1e-6"
    ("evidence.blackbox.test", "CONFIDENCE", 0.95),
    ("evidence.blackbox.test", "FEW_PAIRS", 12),
    ("evidence.blackbox.positions", "_LEVEL", 1e-6),
    ("evidence.regret.common", "ALPHA", 1e-6),
    ("evidence.regret.common", "CONFIDENCE", 0.99),
    ("evidence.regret.common", "STATED", 0.95),
    ("evidence.regret.common", "LOOSE", 10.0),
    ("evidence.regret.rows", "CONFIDENCE", 0.99),
    ("evidence.regret.rows", "PER_ROW", 3),  # two means and their difference
    ("evidence.regret.scaling", "SATURATED", 0.75),
    ("evidence.regret.scaling", "_MOST_RUNS", 50),
    # what rounding explains
    ("evidence.alignment.replay", "TOLERANCE", 1e-9),
    ("evidence.alignment.replay", "_LOST", 1e-12),
    ("evidence.exact.law", "_ROUNDING", 1e-12),
    ("evidence.exact.shuffle", "_NOTHING", 1e-12),
    ("evidence.rounding", "TOLERANCE", 1e-9),
    ("evidence.rounding", "ROUNDING", 2.0**-46),
    # what a test detects, and how closely limits are found
    ("evidence.blackbox.statistics", "DETECT", 2.0),
    ("evidence.blackbox.statistics", "DETECTED", 0.95),
    ("evidence.blackbox.statistics", "DETECTABLE_STEP", 1e-3),
    ("evidence.blackbox.statistics", "SEARCHED", 1e-5),
    ("evidence.blackbox.statistics", "_FARTHEST", 64.0),
    ("evidence.blackbox.statistics", "_FAR", -20.0),
    ("evidence.blackbox.statistics", "_FEW", 1000),
    ("evidence.blackbox.statistics", "_FEWER", 200),
    ("evidence.blackbox.statistics", "_LOOKS", 24),
    ("evidence.blackbox.statistics", "_SPAN", 2.0),
    ("evidence.blackbox.statistics", "_NO_HIT", 0.01),
    ("evidence.blackbox.statistics", "_TRIES", 8),
    ("evidence.blackbox.statistics", "_NEAR", 1e-6),
    ("evidence.blackbox.statistics", "_FINE", 1e-7),
    ("evidence.blackbox.statistics", "_EXACT", 1e-12),
    ("evidence.blackbox.statistics", "_SURE", 1 - 1e-15),
    ("evidence.blackbox.curves", "_HALVINGS", 60),
    ("evidence.blackbox.curves", "_LEAST_HITS", 6),
    ("evidence.blackbox.bets", "_ALMOST", 1 - 1e-9),
    ("evidence.blackbox.bets", "_KEPT", 1e-9),
    ("evidence.blackbox.unconditional", "LEAST", 1e-50),
    ("evidence.blackbox.unconditional", "_NUISANCE", 1e-3),  # its docstring: a thousandth of the p-value
    ("evidence.blackbox.unconditional", "_MARGIN", 1 + 1e-4),  # its docstring: raised by 1e-4
    ("evidence.blackbox.sequential", "CASH", 0.25),
    ("evidence.blackbox.bets", "_DETECTED", 1.6448536269514722),  # normal quantile of .95
    ("evidence.blackbox.sequential", "_RATIO", 8),
    ("evidence.blackbox.sequential", "_LEAST", 500),
    # what a record decides
    ("record.decision", "WEAK", 1.5),
]


@pytest.mark.parametrize(("module", "name", "value"), LEVELS)
def test_levels(module, name, value):
    assert getattr(importlib.import_module(f"verifiable_dp.{module}"), name) == value


# ---------------------------------------------------------------- events that are chosen on selection runs


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
