"""The rule by which derived numbers are compared, and zeros that are recorded as zeros."""

import math
from types import SimpleNamespace
from typing import ClassVar
from unittest import mock

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType
from scipy import stats

from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.evidence import premises, rounding, words
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.check import Check, judged, scales_of
from verifiable_dp.evidence.exact import law
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.evidence.fields import Real, Recorded, RegretResult
from verifiable_dp.evidence.regret import readings
from verifiable_dp.evidence.regret.common import moments
from verifiable_dp.evidence.regret.floors import floor_row
from verifiable_dp.evidence.regret.linear_in_log import _linear_scales, linear_in_log
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.evidence.tracing.numbers import FlowStep, LeftAt, TracedNote, TracingResult
from verifiable_dp.record.differences import first_difference

EPS = 2.0**-52


@pytest.mark.parametrize(
    ("recorded", "again", "scale", "agree"),
    [
        (1.0, 1.0 + 0.9e-9, 0.0, True),
        (1.0, 1.0 + 1.1e-9, 0.0, False),
        (1e-300, 1.1e-300, 0.0, False),
        (4.584497127881663e-15, 4.455540975341684e-15, 1.0, True),  # the error of a slope of 1
        (4.584497127881663e-15, 4.455540975341684e-15, 0.0, False),
        (0.0, 1e-12, 0.0, False),
        (0.0, 0.9e-9, 1.0, True),
        (0.0, 1.1e-9, 1.0, False),
        (1e308, -1e308, 0.0, False),
        (math.inf, math.inf, 0.0, True),
        (math.inf, 1e308, math.inf, False),
        (1.0, 2.0, math.inf, False),
        (1.0, 2.0, math.nan, False),
    ],
)
def test_the_rule(recorded, again, scale, agree):
    for pair in ((recorded, again), (again, recorded)):
        assert (rounding.difference(*pair, scale) <= rounding.TOLERANCE) == agree


@given(st.floats(-100, 1e3), st.integers(2, 10_000))
def test_a_tail_magnifies_no_more_than_its_scale_says(t, df):
    """Negative control: without the factor 1 - 2 log p it does, by far."""
    p, moved = (float(stats.t.sf(x, df)) for x in (t, t * (1 + 1e-6)))
    assert abs(p - moved) <= 1.01e-6 * rounding.of_p_value(p) + 1e-300


def test_a_plain_relative_change_is_not_enough_for_tails():
    p, moved = (float(stats.norm.sf(x)) for x in (30.0, 30.0 * (1 + 1e-6)))
    assert abs(p - moved) > 100 * 1e-6 * p


# ---------------------------------------------------------------- zero by construction


def points(values):
    return [(float(x), y) for x, y in zip((1, 2, 4, 8, 16, 32), values, strict=True)]


@pytest.mark.parametrize("power", [0.5, 1.0, -1.0, 0.0])
def test_a_slope_of_exact_powers_has_no_error(power):
    """Regret that is proportional to a power of x, as of an algorithm that is not random."""
    check = scaling(
        "s", points([np.full(30, 3817965629.522919 * x**power) for x in (1, 2, 4, 8, 16, 32)]), log_power=0.0
    )
    assert check.result["standard_error"] == 0.0
    assert check.result["slope"] == pytest.approx(power, abs=8 * EPS)
    assert check.result["lower"] == check.result["slope"] == check.result["upper"]


def test_a_line_through_equal_data_is_flat():
    for make in (scaling, linear_in_log):
        options = {"log_power": 0.0} if make is scaling else {}
        check = make("s", points([np.full(30, 0.1)] * 6), **options)
        found = {key: check.result[key] for key in ("slope", "standard_error", "lower", "upper")}
        assert found == dict.fromkeys(found, 0.0)


def test_a_parabola_through_a_line_does_not_bend():
    check = linear_in_log("s", points([np.full(9, 7.3 + 0.1 * np.log(x)) for x in (1, 2, 4, 8, 16, 32)]))
    assert check.result["bend"] == 0.0
    assert check.result["standard_error"] == 0.0


@pytest.mark.parametrize("rounded", [0.0, 3e-16])
def test_runs_that_agree_have_no_spread(rounded):
    """The mean of 30 equal numbers is not always that number in floats."""
    runs = np.full(30, 0.1) * (1 + rounded * (np.arange(30) % 2))
    assert float(np.full(30, 0.1).std(ddof=1)) > 0 or rounded  # what was recorded before
    n, mean, sd = moments("runs", runs)
    assert (n, sd) == (30, 0.0)
    assert mean == pytest.approx(0.1)
    assert floor_row(runs, bound=1.0)["sd"] == 0.0


def test_a_real_spread_stays():
    """Negative control: a thousandth of a millionth of a millionth is not a rounding."""
    runs = 1e6 + 1e-6 * np.arange(30)
    assert moments("runs", runs)[2] == pytest.approx(runs.std(ddof=1), rel=1e-3)
    check = scaling(
        "s", points([np.array([1, 1 + 1e-9]) * y for y in (1, 2.1, 4, 8.3, 15, 33)]), log_power=0.0
    )
    assert check.result["standard_error"] > 0


def test_a_bound_that_is_the_largest_value_but_for_rounding_is_vacuous():
    for bound in (2.5e6 * (1 - EPS), 2.5e6, 2.5e6 * (1 + EPS)):
        assert mean_bound("b", [1.0, 2.0], bound=bound, largest=2.5e6).verdict == "vacuous"
        below = mean_at_least("b", [2.6e6, 2.7e6], bound=bound, least=2.5e6)
        assert below.verdict == "vacuous"
    assert mean_bound("b", [1.0, 1.0], bound=2.49e6, largest=2.5e6).verdict == "consistent"


def test_a_threshold_is_not_chosen_by_rounding():
    """At the claim nothing is to be seen: only noise of 1e-17 told thresholds apart there."""
    numbers = {"batch": 1, "crowd": 26, "scale": 0.5, "range": 2.0, "epsilon": 4.0, "delta": 1e-6}
    deltas = {t: shuffle.laplace_delta(26, 0.5, 4.0, t) for t in shuffle.THRESHOLDS}
    assert max(deltas.values()) < exact_shuffle._NOTHING
    found = judged("shuffle", numbers)
    assert found["delta_lower"] == 0.0
    at_claim = shuffle.largest_epsilon(
        lambda level: shuffle.laplace_delta(26, 0.5, level, max(deltas, key=deltas.get)), 1e-6, 4.0
    )
    assert found["epsilon_lower"] > 2 * at_claim
    for change in (1 - 4 * EPS, 1 + 4 * EPS):
        assert judged("shuffle", {**numbers, "scale": 0.5 * change})["threshold"] == found["threshold"]


# ---------------------------------------------------------------- judges without committed checks


def curve(k1, k0):
    shared = {"direction": "world 1 over world 0", "event": "e", "k1": k1, "k0": k0}
    found = [{"epsilon": e, **shared} for e in (0.0, 1.0)] + [{"delta": d, **shared} for d in (0.1, 1e-3)]
    levels = {"tests": 1, "alpha": 1e-6, "confidence": 0.95}
    return {"runs": 10_000, "points": found, "epsilon": 1.0, "delta": 1e-5, **levels}


def black_box(k1, k0, delta):
    levels = {"tests": 2, "alpha": 1e-6, "confidence": 0.95}
    return {"k1": k1, "n1": 10_000, "k0": k0, "n0": 10_000, "epsilon": 1.0, "delta": delta, **levels}


@pytest.mark.parametrize(
    ("kind", "statistics"),
    [("curve", curve(k1, k0)) for k1, k0 in ((9, 0), (400, 30), (5000, 2000))]
    + [("black_box", black_box(k1, k0, delta)) for k1, k0 in ((9, 0), (5000, 2000)) for delta in (0.0, 1e-4)],
)
def test_rounding_of_a_claim_stays_within_the_scales(kind, statistics):
    """Claims and levels off by some units in the last place change no number beyond what is allowed."""
    (check,) = [{"name": "it", "kind": kind, "statistics": statistics, "result": judged(kind, statistics)}]
    for factor in (1 - 8 * EPS, 1 + 8 * EPS):
        moved = {
            **statistics,
            **{key: statistics[key] * factor for key in ("epsilon", "delta", "confidence")},
        }
        again = {"name": "it", "kind": kind, "statistics": statistics, "result": judged(kind, moved)}
        assert first_difference(check, again) == ""
    # One more hit is seen.
    more = curve(5001, 2000) if kind == "curve" else {**statistics, "k1": statistics["k1"] + 1}
    other = {"name": "it", "kind": kind, "statistics": statistics, "result": judged(kind, more)}
    assert first_difference(check, other) != ""
    assert scales_of(Check.of("it", kind, statistics))["result"]


def test_limits_found_by_searches_are_within_what_their_scale_allows():
    """Another way to the same limit: from the p-value, by bisection."""
    level = 0.01
    found = exact.approximate_lower(5000, 10_000, 2000, 10_000, 1e-4, level)
    low, high = found - 0.1, found + 0.1
    for _ in range(40):
        middle = (low + high) / 2
        p_value = exact.approximate_p_value(5000, 10_000, 2000, 10_000, middle, 1e-4)
        low, high = (middle, high) if p_value <= level else (low, middle)
    error = exact.log_ratio_error(5000, 10_000, 2000, 10_000, 1e-4)
    assert abs(found - low) <= exact.SEARCHED * error


def test_unusable_numbers_have_no_scales():
    assert scales_of(Check("it", "scaling", {"points": []}, {})) == {}
    assert scales_of(Check("it", "unknown", {}, {})) == {}


def test_the_scales_of_a_line_over_log_x():
    """Logarithms 0 and 2, half apart 1 and around 1; the largest mean is 3."""
    points = [[1.0, 2.0, 0.5], [math.exp(2), -3.0, 0.25]]
    result = {"slope": 0.5, "standard_error": 0.1, "upper": 0.7, "p_value": 0.5}
    scales = _linear_scales({"points": points}, result)
    found = {
        name: scales["result"][name] for name in ("slope", "standard_error", "upper", "intercept", "bend")
    }
    assert found == pytest.approx({"slope": 6, "standard_error": 6, "upper": 18, "intercept": 12, "bend": 12})
    assert scales["statistics"] == {"points": [[0.0, 0.0, 2.0], [0.0, 0.0, 3.0]]}
    assert _linear_scales({"points": points}, result | {"slope": 0.0})["result"]["bend"] == 0.0


def test_the_scales_of_exact_laws():
    """Logarithms are sums of numbers up to 1; probabilities are compared as they are rounded."""
    scales = law._scales({"pairs": [{}, {}]}, {})
    (pair, other) = scales["statistics"]["pairs"]
    assert pair == other
    assert {name for name, scale in pair.items() if scale == 1.0} == {
        *("epsilon", "epsilon_at_delta", "epsilon_at_1e-6", "log_probabilities")
    }
    assert {name for name, scale in pair.items() if scale == law.ROUNDED} == {
        "delta",
        "delta_upper",
        "remainder",
    }
    assert scales["result"] == {
        "epsilon_lower": 1.0,
        **dict.fromkeys(("delta_lower", "delta_upper", "remainder"), law.ROUNDED),
    }


# Numbers in words, and what the sentences beside the judges say with them.


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0.0, "0"),
        (3.0, "3"),
        (-2.0, "-2"),
        ("2.5", "2.5"),
        (0.123456, "0.1235"),
        (123456.7, "1.235e+05"),
        (999_999_999.0, "999999999"),
        (1e9, "1e+09"),
        (math.nan, "undefined"),
        (math.inf, "infinity"),
        (-math.inf, "-infinity"),
        ("inf", "infinity"),
    ],
)
def test_digits(value, said):
    assert words.digits(value) == said


def test_infinity_by_another_name():
    assert (words.digits(math.inf, "no bound"), words.digits(-math.inf, "x")) == ("no bound", "-x")


@pytest.mark.parametrize(("value", "said"), [(0.01234, "0.0123"), (0.0, "below 1e-300"), (1e-300, "1e-300")])
def test_p_values(value, said):
    assert words.p_value(value) == said


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({}, ""),
        ({"lower": 1.0}, ""),
        ({"upper": 1.0, "lower": None}, ""),
        ({"lower": 0.0, "upper": 2.0}, " (95 %: 0 to 2)"),
    ],
)
def test_intervals(result, said):
    assert words.interval(result) == said


def test_what_a_test_says_of_epsilon():
    numbers = {"confidence": 0.95, "epsilon": 0.5}
    result = {"epsilon_lower": 0.75, "p_value": 0.001}
    assert words.bounded(numbers, result) == (
        "epsilon at least 0.75 with 95 % confidence, claimed 0.5, p-value 0.001"
    )


def test_what_a_table_comes_down_to():
    """Four sentences of a table; of any other kind the one that stands beside its judge."""
    table = SimpleNamespace(kind="table", form=SimpleNamespace(about="table"))
    price = SimpleNamespace(kind="price", form=SimpleNamespace(about="regret"))
    names = ("who_wins", "where_they_win", "against_the_floor", "what_is_separated")
    named = {name: mock.Mock(return_value=name) for name in names}
    with mock.patch.multiple(readings, in_words=mock.Mock(return_value="words"), **named):
        assert readings.reading(table) == list(named)
        assert readings.reading(price) == ["words"]
    assert (readings.is_table(table), readings.is_table(price)) == (True, False)


@pytest.mark.parametrize(
    ("lines", "branches", "said"),
    [
        ([3], 1, "a condition always has the same outcome as in 5 plain runs (line 3; "),
        ([3], 2, "conditions always have the same outcome as in 5 plain runs (line 3; "),
        ([3, 9], 2, "conditions always have the same outcome as in 5 plain runs (lines 3, 9; "),
    ],
)
def test_conditions_that_are_closed_are_told_one_or_many(lines, branches, said):
    assert premises._closed({"lines": lines, "branches": branches, "runs": 5}).startswith(said)


# What checks hold, as types: fields that a kind does not name, that go together, that are true or absent.


class Either(Recorded, frozen=True):
    either: ClassVar[tuple[str, ...]] = ("runs", "counts")

    runs: int | UnsetType = UNSET
    counts: int | UnsetType = UNSET


class Only(Recorded, frozen=True):
    only: ClassVar[tuple[str, ...]] = ("carried",)

    carried: bool | UnsetType = UNSET


class Wide(Recorded, frozen=True, forbid_unknown_fields=False):
    rest: ClassVar = Real

    size: int


STEP = {"file": "a.py", "line": 1, "role": "raw", "words": "", "source": "", "count": 0}
RESULT = {"verdict": "refuted", "holds": False, "epsilon_lower": "inf", "cost_over_epsilon": "inf"}


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (Either, {"runs": 0}),
        (Either, {"counts": 1}),
        (Only, {}),
        (Only, {"carried": True}),
        (Wide, {"size": 1}),
        (Wide, {"size": 1, "more": 0.5, "most": "-inf"}),
        (RegretResult, {"verdict": "vacuous", "slope": 0.5}),
        (LeftAt, {"what": "a draw", "file": "", "line": 0}),
        (TracedNote, {"kind": "compiled", "what": "", "file": "a.py", "line": 0}),
        (FlowStep, STEP),
        (FlowStep, {**STEP, "cost": "inf"}),
        (TracingResult, RESULT),
        (TracingResult, {**RESULT, "epsilon_lower": 0.0, "detectable": 1.0}),
    ],
)
def test_what_a_form_takes(form, values):
    named = {name: value for name, value in values.items() if name in form.__struct_fields__}
    assert msgspec.to_builtins(form.of(values)) == named


@pytest.mark.parametrize(
    ("form", "values", "said"),
    [
        (Either, {}, "exactly one of runs and counts must be given"),
        (Either, {"runs": 0, "counts": 0}, "exactly one of runs and counts must be given"),
        (Only, {"carried": False}, "carried must be true, or absent"),
        (Only, {"carried": True, "more": 1}, "more"),
        (Wide, {"size": 1, "more": True}, "more|bool"),
        (Wide, {"more": 0.5}, "size"),
        (RegretResult, {"verdict": "refuted"}, "refuted"),
        (LeftAt, {"what": "", "file": "", "line": 0}, "what"),
        (LeftAt, {"what": "a draw", "file": "", "line": -1}, "line"),
        (TracedNote, {"kind": "else", "what": "", "file": "a.py", "line": 0}, "else"),
        (FlowStep, {**STEP, "line": 0}, "line"),
        (FlowStep, {**STEP, "role": "noise"}, "noise"),
        (FlowStep, {**STEP, "cost": None}, "cost"),
        (TracingResult, {**RESULT, "verdict": "contradicted"}, "contradicted"),
        (TracingResult, {**RESULT, "epsilon_lower": -0.5}, "epsilon_lower"),
    ],
)
def test_what_a_form_refuses(form, values, said):
    with pytest.raises(msgspec.ValidationError, match=said):
        form.of(values)
