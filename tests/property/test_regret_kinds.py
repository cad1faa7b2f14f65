"""Judges of regret: what they say does not depend on units, nor on the side from which one looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifiable_dp.evidence.regret.linear_in_log
import verifiable_dp.evidence.regret.mean_at_least
import verifiable_dp.evidence.regret.mean_bound  # noqa: F401 - their judges
from verifiable_dp.evidence.check import judged

numbers = st.floats(-1e3, 1e3, allow_nan=False)
positive = st.floats(1e-2, 1e3)
LINE = {"slope": None, "most_slope": None, "margin": 0.0, "curvature": 0.1}


def means(n, mean, sd, bound, edge):
    common = {"n": n, "sd": sd}
    low = judged("mean_at_least", {**common, "mean": mean, "bound": bound, "least": edge})
    high = judged("mean_bound", {**common, "mean": -mean, "bound": -bound, "largest": -edge})
    return low, high


@given(st.integers(1, 50), numbers, positive, numbers, numbers)
def test_a_lower_bound_is_an_upper_bound_on_the_negative(n, mean, sd, bound, edge):
    low, high = means(n, mean, sd, bound, edge)
    assert low["verdict"] == high["verdict"]
    assert low["p_value"] == pytest.approx(high["p_value"])


@given(st.integers(2, 50), numbers, positive, numbers, positive)
def test_a_lower_bound_that_is_lower_is_never_worse(n, mean, sd, bound, step):
    order = ("contradicted", "inconclusive", "consistent")
    high, low = (means(n, mean, sd, b, -1e9)[0]["verdict"] for b in (bound, bound - step))
    assert order.index(low) >= order.index(high)


def line(values, **options):
    rows = [[x, y, e] for x, (y, e) in zip(np.geomspace(1e3, 1e6, len(values)), values, strict=True)]
    return judged("linear_in_log", {"points": rows, **LINE, **options})


points = st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(1e-3, 5.0)), min_size=5, max_size=12)


@given(points, st.sampled_from([1e-3, 7.0, 1e4]), st.floats(0.1, 20.0))
def test_growth_is_judged_alike_in_other_units(values, unit, slope):
    """Powers of ten and seven: least squares rounds, so that only clear verdicts are compared."""
    here = line(values, most_slope=slope)
    there = line([(y * unit, e * unit) for y, e in values], most_slope=slope * unit)
    assert there["slope"] == pytest.approx(here["slope"] * unit, rel=1e-6, abs=1e-9 * unit)
    assert there["p_value"] == pytest.approx(here["p_value"], rel=1e-4, abs=1e-12)
    assert there["verdict"] == here["verdict"]


@given(points, st.floats(0.1, 20.0))
def test_a_stricter_claim_has_no_larger_p_value(values, slope):
    loose, strict = line(values, most_slope=slope), line(values, most_slope=slope / 2)
    assert strict["p_value"] <= loose["p_value"]
    assert (loose["verdict"], strict["verdict"]) != ("contradicted", "consistent")


def test_some_claims_are_contradicted():
    """The negative control of the last test: both verdicts occur."""
    values = [(10 * np.log(x), 1e-3) for x in np.geomspace(1e3, 1e6, 8)]
    assert line(values, most_slope=1.0)["verdict"] == "contradicted"
    assert line(values, most_slope=11.0)["verdict"] == "consistent"
