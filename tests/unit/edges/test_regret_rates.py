"""Edges of the judges of exponents and of growth, and of the line that is fitted for them.

Points lie exactly on a law, so that slopes and their errors follow by hand: with relative errors e at each
of n points the slope of the logarithms has the error e / sqrt(S), S the sum of squares of log x around its
mean.
"""

import math
from unittest import mock

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.regret import common, linear_in_log, scaling

NEAR = 1e-6
XS = [float(x) for x in np.geomspace(10, 1e5, 9)]
LOGS = np.log(XS)
ROOT = math.sqrt(((LOGS - LOGS.mean()) ** 2).sum())
POINTS = [[10.0**j, 1.0, 0.1] for j in range(9)]
Q99 = stats.t.ppf(0.99, 7)  # 9 points, 2 coefficients


def rate(slope, half=0.01, log_power=0.0, **changes):
    """A law x^slope (log x)^log_power; the one-sided limits at 99 % are `half` away from the slope."""
    error = half / Q99 * ROOT
    points = []
    for x in XS:
        mean = 3.0 * x**slope * math.log(x) ** log_power
        points.append([x, mean, error * mean])
    numbers = {"points": points, "log_power": log_power, "exponent": 0.5, "margin": 0.05}
    return judged("scaling", numbers | changes)


SE = 0.01 / Q99
BOTH = stats.t.isf(0.5e-6, 7) * SE  # how far beyond the margin both sides together reach 1e-6
ONE = stats.t.isf(1e-6, 7) * SE


@pytest.mark.parametrize(
    ("slope", "changes", "verdict"),
    [
        (0.459, {}, "inconclusive"),  # limits [.449, .469] against .5 +- .05
        (0.46 - NEAR, {}, "inconclusive"),
        (0.46 + NEAR, {}, "consistent"),
        (0.54 - NEAR, {}, "consistent"),
        (0.54 + NEAR, {}, "inconclusive"),
        (0.55 + BOTH - NEAR, {}, "inconclusive"),
        (0.55 + BOTH + NEAR, {}, "contradicted"),
        (0.45 - BOTH + NEAR, {}, "inconclusive"),
        (0.45 - BOTH - NEAR, {}, "contradicted"),
        (0.1, {"at_most": True}, "consistent"),
        (0.54 - NEAR, {"at_most": True}, "consistent"),
        (0.54 + NEAR, {"at_most": True}, "inconclusive"),
        (0.55 + ONE - NEAR, {"at_most": True}, "inconclusive"),
        (0.55 + ONE + NEAR, {"at_most": True}, "contradicted"),
        # Where an algorithm has not begun to act no slope contradicts: one share of 3/4 or more will do.
        (1.0, {"shares": [0.1, 1.0]}, "vacuous"),
        (1.0, {"shares": [1.0, 0.1]}, "vacuous"),
        (1.0, {"shares": [0.1, 0.75]}, "vacuous"),
        (1.0, {"shares": [0.1, 0.7499]}, "contradicted"),
        (1.0, {"shares": []}, "contradicted"),
        (1.0, {}, "contradicted"),
        (0.5, {"shares": [1.0]}, "consistent"),
        (0.52, {"margin": 0.03 + NEAR}, "consistent"),
        (0.52, {"margin": 0.03 - NEAR}, "inconclusive"),
        (0.3, {"exponent": 0.34 - NEAR}, "consistent"),
        (0.3, {"exponent": 0.34 + NEAR}, "inconclusive"),
        # Flat and without error both limits are 0, and the ends of the margin are included.
        (0.0, {"exponent": 0.05, "half": 0.0}, "consistent"),
        (0.0, {"exponent": -0.05, "half": 0.0}, "consistent"),
        (0.0, {"exponent": 0.05 + NEAR, "half": 0.0}, "contradicted"),
    ],
)
def test_an_exponent(slope, changes, verdict):
    assert rate(slope, **changes)["verdict"] == verdict


@pytest.mark.parametrize(
    ("slope", "changes", "verdict"),
    [
        (0.6, {"alpha": 0.0}, "contradicted"),  # no error at all: p = 0 reaches level 0
        (0.5, {"alpha": 1.0}, "contradicted"),  # p = 1 reaches level 1
        (0.5, {"alpha": 0.99, "margin": 0.0}, "inconclusive"),
    ],
)
def test_an_exponent_at_the_ends_of_the_level(slope, changes, verdict):
    assert rate(slope, half=0.0 if slope == 0.6 else 0.01, **changes)["verdict"] in (verdict, "contradicted")
    assert (rate(slope, half=0.0 if slope == 0.6 else 0.01, **changes)["p_value"] <= changes["alpha"]) == (
        verdict == "contradicted"
    )


def test_numbers_of_an_exponent():
    found, stated = rate(0.56), stats.t.ppf(0.975, 7) * SE
    wanted = {
        "slope": 0.56,
        "standard_error": SE,
        "lower": 0.56 - stated,
        "upper": 0.56 + stated,
        "lower_limit": 0.55,
        "upper_limit": 0.57,
        "p_value": 2 * stats.t.sf(0.01 / SE, 7),
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)
    assert rate(0.5)["p_value"] == 1.0
    assert rate(0.56, at_most=True)["p_value"] == pytest.approx(wanted["p_value"] / 2)
    assert rate(0.54, at_most=True)["p_value"] == pytest.approx(stats.t.cdf(0.01 / SE, 7))


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_a_power_of_the_logarithm_is_divided_out(power):
    assert rate(0.7, log_power=power)["slope"] == pytest.approx(0.7)
    assert rate(0.7, log_power=power)["standard_error"] == pytest.approx(SE)


@pytest.mark.parametrize(
    ("slope", "half", "changes", "words"),
    [
        # The limits are .02 away, the room is .01: four times as many runs halve the first.
        (0.54 + NEAR, 0.02, {}, "about 5 times as many runs"),
        (0.54 - NEAR, 0.02, {}, "about 4 times as many runs"),
        (0.46 + NEAR, 0.02, {}, "about 4 times as many runs"),
        (0.54 - NEAR, 0.02, {"at_most": True}, "about 4 times as many runs"),
        (0.549 - NEAR, 0.007, {}, "about 49 times as many runs"),
        (0.549 - NEAR, 0.00708, {}, "to decide, use a longer horizon or a larger gap"),  # 50.1 times
        (0.549 - NEAR, 0.00707, {}, "about 50 times as many runs"),
        (0.55, 0.02, {}, "to decide, use a longer horizon or a larger gap"),
        (0.56, 0.02, {"over": "K"}, "a wider range of K"),
        (0.56, 0.02, {"over": "T"}, "to decide, use a longer horizon or a larger gap"),
    ],
)
def test_what_would_decide(slope, half, changes, words):
    margin = {"exponent": 0.5, "margin": 0.05, "points": POINTS}
    assert words in scaling._advice(margin | changes, rate(slope, half=half, **changes))


@pytest.mark.parametrize(
    ("limits", "words"), [((0.53, 0.5601), "; about 5 times"), ((0.5099, 0.55), "; about 10 times")]
)
def test_the_farther_limit_says_how_many_runs_are_missing(limits, words):
    """The slope is .54 and the room .01: the farther limit is a little over two, or three, times as far."""
    result = {"slope": 0.54, "lower_limit": limits[0], "upper_limit": limits[1]}
    assert scaling._advice({"exponent": 0.5, "margin": 0.05}, result).startswith(words)


def test_no_room_is_left_where_the_slope_is_at_the_margin():
    assert "a longer horizon" in scaling._advice(
        {"exponent": 0.05, "margin": 0.05, "points": POINTS}, rate(0.0, half=0.0)
    )


# ---------------------------------------------------------------- linear in the logarithm

# log x = 2, 3, 4, 5, 6 lies at z = -1 .. 1 by halves of 2: a mean of a + b z + q z^2 has the slope b / 2.
LINE = [math.exp(k) for k in (2, 3, 4, 5, 6)]
Z = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
EACH = 0.05  # error of every mean
SLOPE_ERROR = EACH / math.sqrt(2.5) / 2  # the sum of z^2 is 2.5
BEND_ERROR = EACH / math.sqrt(0.875)  # the sum of (z^2 - 1/2)^2 is 7/8


def growth(bend=0.0, slope=3.0, error=EACH, **changes):
    points = [[x, 50 + 2 * slope * z + bend * z * z, error] for x, z in zip(LINE, Z, strict=True)]
    numbers = {"points": points, "curvature": 0.25, "slope": None, "most_slope": None, "margin": 0.5}
    return judged("linear_in_log", numbers | changes)


T3, T2 = stats.t(3), stats.t(2)
CONTRAST = math.hypot(BEND_ERROR, 0.25 * EACH / math.sqrt(2.5))  # of q - b/4, z and z^2 being orthogonal


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        # The bend of 0.25 times 6, without error: the least excess contradicts.
        ({"bend": 1.5 - NEAR, "error": 0.0}, "consistent"),
        ({"bend": 1.5 + NEAR, "error": 0.0}, "contradicted"),
        ({"bend": -1.5 + NEAR, "error": 0.0}, "consistent"),
        ({"bend": -1.5 - NEAR, "error": 0.0}, "contradicted"),
        ({"bend": 1.5 + NEAR, "error": 0.0, "alpha": 0.0}, "contradicted"),
        # A claimed slope, both sides: t with 3 degrees of freedom, the level shared by 4 tests.
        ({"slope": 3.5 - T3.ppf(0.99) * SLOPE_ERROR - NEAR, "claimed": 3.0}, "consistent"),
        ({"slope": 3.5 - T3.ppf(0.99) * SLOPE_ERROR + NEAR, "claimed": 3.0}, "inconclusive"),
        ({"slope": 2.5 + T3.ppf(0.99) * SLOPE_ERROR + NEAR, "claimed": 3.0}, "consistent"),
        ({"slope": 2.5 + T3.ppf(0.99) * SLOPE_ERROR - NEAR, "claimed": 3.0}, "inconclusive"),
        (
            {"slope": 3.5 + T3.isf(0.01 / 4) * SLOPE_ERROR - NEAR, "claimed": 3.0, "alpha": 0.01},
            "inconclusive",
        ),
        (
            {"slope": 3.5 + T3.isf(0.01 / 4) * SLOPE_ERROR + NEAR, "claimed": 3.0, "alpha": 0.01},
            "contradicted",
        ),
        (
            {"slope": 2.5 - T3.isf(0.01 / 4) * SLOPE_ERROR + NEAR, "claimed": 3.0, "alpha": 0.01},
            "inconclusive",
        ),
        (
            {"slope": 2.5 - T3.isf(0.01 / 4) * SLOPE_ERROR - NEAR, "claimed": 3.0, "alpha": 0.01},
            "contradicted",
        ),
        # At most a slope: one side, the level shared by 3 tests.
        ({"slope": 2.0, "most": 3.0}, "consistent"),
        ({"slope": 3.5 - T3.ppf(0.99) * SLOPE_ERROR - NEAR, "most": 3.0}, "consistent"),
        ({"slope": 3.5 - T3.ppf(0.99) * SLOPE_ERROR + NEAR, "most": 3.0}, "inconclusive"),
        ({"slope": 3.5 + T3.isf(0.01 / 3) * SLOPE_ERROR - NEAR, "most": 3.0, "alpha": 0.01}, "inconclusive"),
        ({"slope": 3.5 + T3.isf(0.01 / 3) * SLOPE_ERROR + NEAR, "most": 3.0, "alpha": 0.01}, "contradicted"),
        ({"alpha": 1.0}, "contradicted"),  # p = 1
        ({"slope": 0.0, "error": 0.0}, "consistent"),  # flat: 0 is within 0
    ],
)
def test_growth_that_is_linear_in_the_logarithm(arguments, verdict):
    given = dict(arguments)
    claimed = {"slope": given.pop("claimed", None), "most_slope": given.pop("most", None)}
    changes = {key: given.pop(key) for key in ("alpha",) if key in given}
    points = growth(**given, **changes)  # nothing is claimed of the slope: the bend alone
    assert set(claimed.values()) == {None} or points["verdict"] in ("consistent", "inconclusive")
    slope = given.pop("slope", 3.0)
    assert growth_with(slope, claimed, **given, **changes)["verdict"] == verdict


def growth_with(slope, claimed, bend=0.0, error=EACH, **changes):
    points = [[x, 50 + 2 * slope * z + bend * z * z, error] for x, z in zip(LINE, Z, strict=True)]
    numbers = {"points": points, "curvature": 0.25, "margin": 0.5, **claimed}
    return judged("linear_in_log", numbers | changes)


@pytest.mark.parametrize(
    ("bend", "verdict"),
    [
        (1.5 - T2.ppf(0.99) * CONTRAST - NEAR, "consistent"),
        (1.5 - T2.ppf(0.99) * CONTRAST + NEAR, "inconclusive"),
        (-1.5 + T2.ppf(0.99) * CONTRAST + NEAR, "consistent"),
        (-1.5 + T2.ppf(0.99) * CONTRAST - NEAR, "inconclusive"),
        (1.5 + T2.isf(0.01 / 2) * CONTRAST - NEAR, "inconclusive"),
        (1.5 + T2.isf(0.01 / 2) * CONTRAST + NEAR, "contradicted"),
        (-1.5 - T2.isf(0.01 / 2) * CONTRAST + NEAR, "inconclusive"),
        (-1.5 - T2.isf(0.01 / 2) * CONTRAST - NEAR, "contradicted"),
    ],
)
def test_a_bend_with_its_error(bend, verdict):
    """Three coefficients of five points: t with 2 degrees of freedom, the level shared by two sides."""
    assert growth(bend=bend, alpha=0.01, error=EACH / 5)["verdict"] != "vacuous"
    assert growth(bend=bend, alpha=0.01)["verdict"] == verdict


def test_numbers_of_growth():
    found = growth(bend=1.0)
    stated = stats.t.ppf(0.975, 3)
    assert found["slope"] == pytest.approx(3.0)
    assert found["bend"] == pytest.approx(1 / 6)
    # The line through the points is 50 + 1/2 + 6 z, and z = (log x - 4)/2.
    assert found["intercept"] == pytest.approx(50.5 - 12)
    assert found["upper"] - found["slope"] == pytest.approx(stated * found["standard_error"])
    assert found["slope"] - found["lower"] == pytest.approx(stated * found["standard_error"])
    straight = growth()
    assert straight["standard_error"] == pytest.approx(SLOPE_ERROR)
    assert straight["p_value"] == pytest.approx(min(1.0, 2 * T2.sf(-1.5 / CONTRAST)))
    assert growth(bend=3.0)["p_value"] == pytest.approx(2 * T2.sf(1.5 / CONTRAST))
    assert growth(slope=0.0)["bend"] == math.inf
    assert growth(slope=0.5)["bend"] == 0.0


def test_a_variance_that_rounding_makes_negative_is_none():
    assert linear_in_log._contrast([2.0], [[-1e-20]], [3.0], 4) == (6.0, 0.0, 4)
    assert linear_in_log._contrast([2.0], [[4.0]], [3.0], 4) == (6.0, 6.0, 4)


# ---------------------------------------------------------------- the fit


def by_numpy(columns, values, errors):
    """Least squares, and HC3's covariance with the errors of the values added, by matrices."""
    x = np.array(columns).T
    inverse = np.linalg.inv(x.T @ x)
    fitted = inverse @ x.T @ values
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    spread = ((values - x @ fitted) / (1 - leverage)) ** 2 + np.array(errors) ** 2
    return fitted, inverse @ x.T @ np.diag(spread) @ x @ inverse


SCATTERED = [3.0, 4.5, 4.0, 7.0, 6.5, 9.25]
AT = [1.0, 2.0, 4.0, 5.0, 7.0, 11.0]


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("errors", [[0.0] * 6, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
def test_the_robust_fit_is_that_of_matrices(degree, errors):
    columns = [[x**power for x in AT] for power in range(degree + 1)]
    df, params, cov = common.robust_fit(columns, SCATTERED, errors, 10.0)
    wanted, wanted_cov = by_numpy(columns, np.array(SCATTERED), errors)
    assert df == 5 - degree
    assert params == pytest.approx(list(wanted), rel=1e-9)
    assert np.ravel(cov) == pytest.approx(np.ravel(wanted_cov), rel=1e-9)


def test_what_counts_as_rounding_is_relative_to_the_largest_number_that_is_fitted():
    """Logarithms over their first, and 1 for those that are taken near 1; means as they are."""
    with mock.patch.object(scaling, "robust_fit", wraps=common.robust_fit) as fit:
        rate(0.5)
    assert fit.call_args.args[3] == pytest.approx(1 + 0.5 * math.log(1e4))
    with mock.patch.object(linear_in_log, "robust_fit", wraps=common.robust_fit) as fit:
        growth()
    assert [call.args[3] for call in fit.call_args_list] == pytest.approx([56, 56])


def test_residuals_that_are_rounding_are_none():
    """Of values near 1e6 a residual of 1e-9 is rounding, and of values near 1 it is not."""
    values = [1e6 + x for x in AT]
    values[2] += 1e-9
    for size, none in ((1e6, True), (1e-3, False)):
        _, _, cov = common.robust_fit([[1.0] * 6, AT], values, [0.0] * 6, size)
        assert (cov[1][1] == 0) == none


@pytest.mark.parametrize(
    ("bound", "most", "least"),
    [
        (0.5, 1 << 62, 2),
        (1.0, 1 << 62, 2),
        (2.0, 1 << 62, 3),
        (8.0, 1 << 62, 9),
        (100.0, 1 << 62, 101),
        (100.0, 128, 101),
        (100.0, 127, None),
        (1023.0, 1024, 1024),
        (1024.0, 1024, None),
        (2.0**61, 1 << 62, 2**61 + 1),
    ],
)
def test_the_least_horizon_at_which_a_constant_bound_says_something(bound, most, least):
    assert common.least_horizon(lambda _: bound, float, most=most) == pytest.approx(least)
    assert common.least_horizon(lambda _: 5.5, float) == 6


def test_a_bound_that_says_nothing_up_to_the_end_of_the_search():
    assert common.least_horizon(lambda horizon: 2.0 * horizon, float) is None
