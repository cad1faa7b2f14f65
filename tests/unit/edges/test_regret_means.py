"""Edges of the judges of means, ratios and shares of runs.

Expected values come from `scipy.stats` or from a formula in the row, not from the code that is judged. All
tables here are also run against every fault of these judges: see `tests.judges`.
"""

import math

import pytest
from scipy import stats

from verifiable_dp.evidence.check import Check, judged, limits_of, slack_of
from verifiable_dp.evidence.regret import common
from verifiable_dp.evidence.regret.mean_bound import MEAN_BOUND
from verifiable_dp.evidence.regret.probability import _exact_interval

NEAR = 1e-6
# 25 runs with standard deviation 5: the mean has standard error 1 and 24 degrees of freedom.
UP = stats.t.ppf(0.99, 24)  # how far the mean must stay from a bound to keep it
OUT = stats.t.isf(1e-6, 24)  # how far beyond a bound it contradicts it
STATED = stats.t.ppf(0.975, 24)


def mean_bound(**changes):
    return judged("mean_bound", {"n": 25, "mean": 10.0, "sd": 5.0, "bound": 20.0, "largest": 100.0} | changes)


def at_least(**changes):
    return judged("mean_at_least", {"n": 25, "mean": 10.0, "sd": 5.0, "bound": 5.0, "least": 0.0} | changes)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"bound": 10 + UP + NEAR}, "consistent"),
        ({"bound": 10 + UP - NEAR}, "inconclusive"),
        ({"bound": 10 - OUT + NEAR}, "inconclusive"),
        ({"bound": 10 - OUT - NEAR}, "contradicted"),
        ({"sd": 0.0, "bound": 10.0}, "consistent"),  # zero variance is accepted, and the bound included
        ({"sd": 0.0, "bound": 10 - NEAR, "alpha": 0.0}, "contradicted"),  # p = 0 reaches level 0
        ({"sd": 0.0, "bound": 10 + NEAR}, "consistent"),
        ({"sd": 0.0, "bound": 10.0, "alpha": 1.0}, "contradicted"),  # p = 1 reaches level 1
        # A bound within a billionth of the largest value, above 0 or below, holds for every sample.
        ({"bound": 100 - 0.99e-7}, "vacuous"),
        ({"bound": 100 - 1.01e-7}, "consistent"),
        ({"mean": -200.0, "bound": -100 - 0.99e-7, "largest": -100.0}, "vacuous"),
        ({"mean": -200.0, "bound": -100 - 1.01e-7, "largest": -100.0}, "consistent"),
        ({"mean": -1.0, "bound": 0.0, "largest": 0.0}, "vacuous"),
        # What contradicts is not vacuous; one run decides nothing, two do.
        ({"mean": 200.0, "bound": 100.0}, "contradicted"),
        ({"n": 1, "sd": 0.0}, "inconclusive"),
        ({"n": 1, "sd": 0.0, "bound": 100.0}, "vacuous"),
        ({"n": 2, "sd": 0.0}, "consistent"),
        # Levels of their own: 10 + t(.95) and 10 - t(1e-3).
        ({"confidence": 0.95, "bound": 10 + stats.t.ppf(0.95, 24) + NEAR}, "consistent"),
        ({"confidence": 0.95, "bound": 10 + stats.t.ppf(0.95, 24) - NEAR}, "inconclusive"),
        ({"alpha": 1e-3, "bound": 10 - stats.t.isf(1e-3, 24) + NEAR}, "inconclusive"),
        ({"alpha": 1e-3, "bound": 10 - stats.t.isf(1e-3, 24) - NEAR}, "contradicted"),
    ],
)
def test_a_mean_that_is_claimed_to_be_at_most_a_bound(changes, verdict):
    assert mean_bound(**changes)["verdict"] == verdict


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"bound": 10 - UP - NEAR}, "consistent"),
        ({"bound": 10 - UP + NEAR}, "inconclusive"),
        ({"bound": 10 + OUT - NEAR}, "inconclusive"),
        ({"bound": 10 + OUT + NEAR}, "contradicted"),
        ({"sd": 0.0, "bound": 10.0}, "consistent"),
        ({"sd": 0.0, "bound": 10 + NEAR, "alpha": 0.0}, "contradicted"),
        ({"bound": 4 + 3.99e-9, "least": 4.0}, "vacuous"),
        ({"bound": 4 + 4.01e-9, "least": 4.0}, "consistent"),
        ({"bound": -4 + 3.99e-9, "least": -4.0}, "vacuous"),
        ({"bound": -4 + 4.01e-9, "least": -4.0}, "consistent"),
        ({"bound": 0.0, "least": 0.0}, "vacuous"),
        ({"n": 1, "sd": 0.0}, "inconclusive"),
        ({"n": 1, "sd": 0.0, "bound": 0.0}, "vacuous"),
    ],
)
def test_a_mean_that_is_claimed_to_be_at_least_a_bound(changes, verdict):
    assert at_least(**changes)["verdict"] == verdict


@pytest.mark.parametrize(
    ("judge", "changes", "wanted"),
    [
        (
            mean_bound,
            {},
            {
                "lower": 10 - STATED,
                "upper": 10 + STATED,
                "upper_limit": 10 + UP,
                "ratio": 0.5,
                "p_value": stats.t.sf(-10, 24),
            },
        ),
        (mean_bound, {"bound": 1.0}, {"ratio": 10.0, "p_value": stats.t.sf(9, 24)}),
        (mean_bound, {"bound": -1.0}, {"ratio": -10.0}),
        # Two runs: one degree of freedom, error 5/sqrt(2).
        (
            mean_bound,
            {"n": 2},
            {"upper": 10 + stats.t.ppf(0.975, 1) * 5 / math.sqrt(2), "p_value": stats.cauchy.sf(-2 * 2**0.5)},
        ),
        (mean_bound, {"n": 1}, {"p_value": 1.0, "ratio": 0.5}),
        (at_least, {"bound": 20.0}, {"lower_limit": 10 - UP, "ratio": 0.5, "p_value": stats.t.sf(10, 24)}),
        (at_least, {"bound": 0.0}, {"ratio": math.inf}),
        (at_least, {"n": 1}, {"p_value": 1.0, "ratio": 2.0}),
        (mean_bound, {"sd": 0.0}, {"p_value": 1.0, "lower": 10.0, "upper": 10.0}),
    ],
)
def test_numbers_of_means(judge, changes, wanted):
    found = judge(**changes)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-9)


def test_one_run_has_no_interval():
    assert (mean_bound(n=1)["lower"], mean_bound(n=1)["upper"]) == (None, None)


def test_nothing_is_so_many_times_zero():
    assert "ratio" not in mean_bound(bound=0.0, largest=100.0)


@pytest.mark.parametrize(
    ("error", "limit", "p_value"), [(1.0, 2 + UP, stats.t.sf(1, 24)), (0.0, 2.0, 0.0), (1e-30, 2.0, 0.0)]
)
def test_limits_and_p_values(error, limit, p_value):
    assert common.t_limit(2.0, error, 24, 0.99) == pytest.approx(limit)
    assert common.t_p_value(1.0, error, 24) == pytest.approx(p_value)


@pytest.mark.parametrize(("distance", "p_value"), [(1e-300, 0.0), (0.0, 1.0), (-1.0, 1.0), (2.0, 0.0)])
def test_p_values_without_any_spread(distance, p_value):
    assert common.t_p_value(distance, 0.0, 24) == p_value


def test_levels_that_a_record_does_not_state():
    assert common.levels({}) == (1e-6, 0.99)
    assert common.levels({"alpha": 0.5, "confidence": 0.75}) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("variances", "counts", "wanted"),
    [
        ((0.0, 0.0), (5, 7), (0.0, 10.0)),
        ((1.0, 0.0), (5, 7), (1.0, 4.0)),
        ((0.0, 4.0), (5, 7), (2.0, 6.0)),
        ((0.5, 0.5), (5, 5), (1.0, 8.0)),
        ((2.0, 2.0), (3, 5), (2.0, 16 / (4 / 2 + 4 / 4))),
    ],
)
def test_welch(variances, counts, wanted):
    assert common.welch(variances, counts) == pytest.approx(wanted)


# ---------------------------------------------------------------- what a check does not show


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sd": 0.0}, ["all 25 runs are equal"]),
        ({"sd": 1e-9}, []),
        ({"n": 1, "sd": 0.0}, []),
        ({"n": 2, "sd": 0.0}, ["all 2 runs are equal"]),
        ({"bound": 100.01, "largest": 1e6}, ["a loose check: code with 10 times this mean would pass"]),
        ({"bound": 100.0, "largest": 1e6}, ["a loose check: code with 10 times this mean would pass"]),
        ({"bound": 99.9, "largest": 1e6}, []),
        ({"bound": 99.9}, []),
        ({"bound": 100.0}, []),  # vacuous: no verdict that would pass
    ],
)
def test_limits_of_a_mean(changes, words):
    numbers = {"n": 25, "mean": 10.0, "sd": 5.0, "bound": 20.0, "largest": 100.0} | changes
    assert limits_of(Check.of("a", "mean_bound", numbers)) == words


@pytest.mark.parametrize(("sd", "words"), [(0.0, ["all 25 runs are equal"]), (5.0, [])])
def test_limits_of_a_mean_that_is_at_least(sd, words):
    numbers = {"n": 25, "mean": 10.0, "sd": sd, "bound": 5.0, "least": 0.0}
    assert limits_of(Check.of("a", "mean_at_least", numbers)) == words


@pytest.mark.parametrize(("mean", "slack"), [(2.0, 4.0), (0.5, 16.0), (0.0, 1.0), (-1.0, 1.0)])
def test_slack_of_a_mean(mean, slack):
    numbers, result = {"mean": mean, "bound": 8.0}, {"verdict": "consistent"}
    assert slack_of(Check("a", "mean_bound", numbers, result)) == slack
    assert MEAN_BOUND.slack(numbers, result) == slack


@pytest.mark.parametrize(
    ("claimed", "changes", "told"),
    [
        (0.5, {}, False),
        (0.45, {}, False),
        (0.55, {}, False),
        (0.4499, {}, True),
        (0.5501, {}, True),
        (None, {}, False),
        (0.3, {"verdict": "inconclusive"}, False),
        (0.3, {"lower": None}, False),
    ],
)
def test_where_the_margin_decides(claimed, changes, told):
    result = {"verdict": "consistent", "lower": 0.45, "upper": 0.55} | changes
    assert bool(common.margin_decides(claimed, 0.1, result)) == told


# ---------------------------------------------------------------- ratios

# factor 2, sd 5 and 10 of 25 runs each: 2 a and b have the variance 4 each, so that 2 a - b has the error
# sqrt(8) and 48 degrees of freedom.
ERROR = math.sqrt(8)


def comparison(**changes):
    numbers = {"n_a": 25, "mean_a": 10.0, "sd_a": 5.0, "n_b": 25, "mean_b": 20.0, "sd_b": 10.0, "factor": 2.0}
    return judged("comparison", numbers | changes)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"mean_b": 20 + stats.t.ppf(0.99, 48) * ERROR + NEAR}, "consistent"),
        ({"mean_b": 20 + stats.t.ppf(0.99, 48) * ERROR - NEAR}, "inconclusive"),
        ({"mean_b": 20 - stats.t.isf(1e-6, 48) * ERROR + NEAR}, "inconclusive"),
        ({"mean_b": 20 - stats.t.isf(1e-6, 48) * ERROR - NEAR}, "contradicted"),
        ({"sd_a": 0.0, "sd_b": 0.0}, "consistent"),  # exactly twice
        ({"sd_a": 0.0, "sd_b": 0.0, "mean_b": 20 - NEAR, "alpha": 0.0}, "contradicted"),
        ({"n_a": 1}, "inconclusive"),
        ({"n_b": 1}, "inconclusive"),
        ({"n_a": 2, "n_b": 2, "sd_a": 0.0, "sd_b": 0.0}, "consistent"),
        ({"n_a": 2, "n_b": 25, "sd_a": 0.0, "sd_b": 0.0}, "consistent"),
    ],
)
def test_so_many_times_better(changes, verdict):
    assert comparison(**changes)["verdict"] == verdict


def test_numbers_of_a_ratio():
    """Relative variances 1/100 each: the log ratio has the error sqrt(.02) and 48 degrees of freedom."""
    spread = stats.t.ppf(0.975, 48) * math.sqrt(0.02)
    wanted = {"ratio": 2.0, "lower": 2 * math.exp(-spread), "upper": 2 * math.exp(spread), "p_value": 0.5}
    found = comparison()
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-9)


def test_a_ratio_of_unequal_samples():
    """Against SciPy's test of Welch, one-sided; the interval by the formula of Welch and Satterthwaite."""
    numbers = {"n_a": 4, "sd_a": 3.0, "n_b": 9, "sd_b": 5.0, "factor": 1.5, "mean_b": 30.0}
    found = comparison(**numbers)
    wanted = stats.ttest_ind_from_stats(15.0, 4.5, 4, 30.0, 5.0, 9, equal_var=False, alternative="greater")
    assert found["p_value"] == pytest.approx(wanted.pvalue, rel=1e-9)
    a, b = 9 / 4 / 100, 25 / 9 / 900
    df = (a + b) ** 2 / (a**2 / 3 + b**2 / 8)
    assert found["upper"] == pytest.approx(3 * math.exp(stats.t.ppf(0.975, df) * math.sqrt(a + b)))
    assert found["ratio"] == 3.0


def test_one_run_has_no_interval_of_a_ratio():
    assert comparison(n_b=1) == {
        "verdict": "inconclusive",
        "ratio": 2.0,
        "lower": None,
        "upper": None,
        "p_value": 1.0,
    }


def test_the_interval_of_a_ratio_ends_where_floats_do():
    found = comparison(sd_b=1e6)
    assert found["upper"] == 2 * math.exp(700)
    assert found["lower"] == 2 * math.exp(-700)


# ---------------------------------------------------------------- shares of runs


def share(failures, n=100, claimed=0.1, vacuous=False, **more):
    numbers = {"n": n, "failures": failures, "probability": claimed, "vacuous": vacuous, **more}
    return judged("probability", numbers)


# The least count whose binomial tail is at most 1e-6, and the limit at 99 % of 3 failures.
LEAST = next(k for k in range(101) if stats.binom.sf(k - 1, 100, 0.1) <= 1e-6)
LIMIT = stats.beta.ppf(0.99, 4, 97)


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"failures": LEAST}, "contradicted"),
        ({"failures": LEAST - 1}, "inconclusive"),
        ({"failures": LEAST, "vacuous": True}, "contradicted"),
        ({"failures": LEAST - 1, "vacuous": True}, "vacuous"),
        ({"failures": 3, "claimed": LIMIT + 1e-9}, "consistent"),
        ({"failures": 3, "claimed": LIMIT - 1e-9}, "inconclusive"),
        ({"failures": 100, "claimed": 1.0}, "consistent"),  # at most 1 is included
        ({"failures": 1, "n": 1, "claimed": 0.5, "alpha": 0.5}, "contradicted"),  # p = 1/2
        ({"failures": 1, "n": 1, "claimed": 0.5, "alpha": 0.499}, "inconclusive"),
        ({"failures": 0, "claimed": 0.0}, "inconclusive"),
        ({"failures": 1, "claimed": 0.0}, "contradicted"),
        ({"failures": 3, "claimed": LIMIT - 1e-9, "confidence": 0.98}, "consistent"),
    ],
)
def test_how_often_runs_fail(arguments, verdict):
    assert share(**arguments)["verdict"] == verdict


def test_numbers_of_a_share():
    found, whole = share(3), share(100)
    wanted = {
        "rate": 0.03,
        "upper_limit": LIMIT,
        "ratio": 0.3,
        "p_value": stats.binom.sf(2, 100, 0.1),
        "lower": stats.beta.ppf(0.025, 3, 98),
        "upper": stats.beta.ppf(0.975, 4, 97),
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)
    assert whole["upper_limit"] == 1.0
    assert share(3, claimed=0.0)["ratio"] is None
    assert share(3, claimed=1.0)["ratio"] == 0.03


@pytest.mark.parametrize("failures", [0, 1, 50, 99, 100])
def test_the_stated_interval_of_a_share(failures):
    """Clopper and Pearson: quantiles of beta laws."""
    found = _exact_interval(failures, 100)
    lower = stats.beta.ppf(0.025, failures, 101 - failures) if failures else 0.0
    upper = stats.beta.ppf(0.975, failures + 1, 100 - failures) if failures < 100 else 1.0
    assert found == pytest.approx({"lower": lower, "upper": upper}, abs=1e-9)
