"""Edges of the judges of counts: black boxes, last bits, places among runs, and curves."""

import math
from unittest import mock

import pytest
from scipy import stats

from verifiable_dp.core.claims import PrivacyClaim, zcdp_epsilon
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.positions import fisher
from verifiable_dp.evidence.check import judged

HALF = math.log(3)  # a claim under which 3 of 4 hits come from world 1

# ---------------------------------------------------------------- black boxes

BOX = {"epsilon": HALF, "delta": 0.0, "alpha": 0.01, "confidence": 0.95, "tests": 1}
COUNTS = {"k1": 40, "n1": 100, "k0": 4, "n0": 100}
TAIL = stats.binom.sf(39, 44, 0.75)  # 40 of 44 hits from world 1


def box(kind="black_box", **changes):
    return judged(kind, BOX | COUNTS | changes)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"alpha": TAIL * (1 + 1e-9)}, "refuted"),
        ({"alpha": TAIL * (1 - 1e-9)}, "not_refuted"),
        ({"alpha": 2 * TAIL * (1 - 1e-9), "tests": 2}, "not_refuted"),  # the level is shared
        ({"alpha": 2 * TAIL * (1 + 1e-9), "tests": 2}, "refuted"),
        ({"k1": 0, "k0": 4, "alpha": 1.0}, "refuted"),  # p = 1 reaches level 1
        ({"k1": 0, "k0": 4, "alpha": 0.99}, "not_refuted"),
        ({"delta": 0.4, "alpha": 0.5}, "not_refuted"),
        ({"delta": 0.01, "alpha": 1.0, "k1": 300, "n1": 1000}, "refuted"),
    ],
)
def test_a_black_box(changes, verdict):
    found = box(**changes)
    assert found["verdict"] == verdict
    assert ("detectable" in found) == (verdict == "not_refuted")


def test_numbers_of_a_black_box():
    share = stats.beta.ppf(0.05, 40, 5)
    found = box()
    assert found["p_value"] == pytest.approx(TAIL, rel=1e-12)
    assert found["epsilon_lower"] == pytest.approx(math.log(share / (1 - share)))
    assert found["epsilon_point"] == pytest.approx(math.log(10))
    assert box(alpha=1e-3)["detectable"] == exact.detectable(40, 100, 100, HALF, 0.0, 1e-3)
    assert "efficiency" not in found
    shared = box(tests=5)
    share = stats.beta.ppf(0.01, 40, 5)
    assert shared["epsilon_lower"] == pytest.approx(math.log(share / (1 - share)))
    assert shared["p_value"] == pytest.approx(5 * TAIL)
    assert shared["detectable"] == exact.detectable(40, 100, 100, HALF, 0.0, 0.01 / 5)
    assert box(tests=10**6)["p_value"] == 1.0
    assert box(best_event_bound=0.5)["efficiency"] == pytest.approx(found["epsilon_lower"] / 0.5)
    assert box(k1=4, k0=40, best_event_bound=0.5)["efficiency"] == 0.0
    assert box(k1=4, k0=40)["epsilon_lower"] == 0.0


@pytest.mark.parametrize(
    ("changes", "point"),
    [
        ({}, math.log(10)),
        ({"delta": 0.2, "k1": 400, "n1": 1000}, math.log(5)),
        ({"delta": 0.4}, "inf"),  # all of it may be delta
        ({"k0": 0}, "inf"),
        ({"k1": 0}, 0.0),
        ({"n1": 200}, math.log(5)),
        ({"n0": 200}, math.log(20)),
        ({"k1": 1, "k0": 1}, 0.0),
    ],
)
def test_the_estimate_of_a_black_box(changes, point):
    assert box(**changes, alpha=1.0)["epsilon_point"] == (point if point == "inf" else pytest.approx(point))


def test_numbers_of_a_black_box_with_delta():
    counts = {"k1": 300, "n1": 1000, "k0": 40, "n0": 900}
    found = box(delta=0.05, alpha=1.0, tests=5, **counts)
    tail = exact.approximate_p_value(300, 1000, 40, 900, HALF, 0.05)
    assert found["p_value"] == min(1.0, 5 * tail)
    lower = exact.approximate_lower(300, 1000, 40, 900, 0.05, 0.01)
    assert found["epsilon_lower"] == pytest.approx(lower, rel=1e-9)


def test_what_is_detectable_with_delta_has_the_level_of_one_test():
    with mock.patch.object(exact, "detectable", lambda *given: given[-1]):
        assert box(alpha=1e-3, tests=5)["detectable"] == 1e-3 / 5


# Values between the bounds: the lower bound itself is held against the claim, as a lead.
FOUND = box()["epsilon_lower"]


@pytest.mark.parametrize(
    ("epsilon", "verdict"),
    [(FOUND, "not_refuted"), (FOUND - 1e-9, "inconclusive"), (FOUND + 1e-9, "not_refuted")],
)
def test_values_between_the_bounds(epsilon, verdict):
    assert box("between", epsilon=epsilon, alpha=1.0)["verdict"] == verdict


STRONG = {"k1": 90, "n1": 100, "k0": 1, "n0": 100}
WEAK = {"k1": 4, "n1": 100, "k0": 4, "n0": 100}


@pytest.mark.parametrize(
    ("counts", "control", "verdict"),
    [
        (WEAK, STRONG, "not_refuted"),
        (WEAK, WEAK, "inconclusive"),  # a sampler that is known to leak must be caught
        (STRONG, STRONG, "refuted"),
        (STRONG, WEAK, "refuted"),
    ],
)
def test_last_bits(counts, control, verdict):
    found = judged("numerics", BOX | counts | {"control": control})
    assert found["verdict"] == verdict
    assert "detectable" not in found
    assert found["control_epsilon_lower"] == box(**control)["epsilon_lower"]


# ---------------------------------------------------------------- places among runs


def hypergeometric(k1, n1, k0, n0):
    """Twice the smaller tail."""
    law = stats.hypergeom(n1 + n0, k1 + k0, n1)
    return min(1.0, 2 * min(law.cdf(k1), law.sf(k1 - 1)))


@pytest.mark.parametrize(
    "counts",
    [
        (3, 5, 1, 5),
        (1, 5, 3, 5),
        (5, 5, 0, 5),
        (0, 5, 5, 5),
        (0, 3, 0, 4),
        (2, 7, 9, 30),
        (4, 5, 6, 7),
        (1, 2, 1, 2),
    ],
)
def test_fishers_test(counts):
    assert fisher(*counts) == pytest.approx(hypergeometric(*counts), rel=1e-9)


@pytest.mark.parametrize(
    ("level", "tests", "holds"),
    [
        (2 / 252 * (1 - 1e-9), 1, True),  # 5 of 5 against 0 of 5: twice 1/252
        (2 / 252 * (1 + 1e-9), 1, False),
        (6 / 252 * (1 - 1e-9), 3, True),
        (6 / 252 * (1 + 1e-9), 3, False),
        (1.0, 1000, False),  # a p-value of 1 reaches level 1
        (0.99, 1000, True),
    ],
)
def test_a_place_that_stands_out(level, tests, holds):
    numbers = {"k1": 5, "n1": 5, "k0": 0, "n0": 5, "tests": tests, "level": level}
    found = judged("positions", numbers)
    assert (found["verdict"], found["holds"]) == ("not_refuted" if holds else "inconclusive", holds)
    assert found["p_value"] == pytest.approx(min(1.0, tests * 2 / 252))


# ---------------------------------------------------------------- curves


def curve(points, **changes):
    numbers = {"epsilon": 1.0, "delta": 0.01, "alpha": 0.01, "confidence": 0.95, "tests": 1, "runs": 1000}
    return judged("curve", numbers | {"points": points} | changes)


AT_EPSILON = {"epsilon": 0.5, "k1": 600, "k0": 100}
AT_DELTA = {"delta": 0.05, "k1": 600, "k0": 100}
CLAIM = PrivacyClaim(1.0, 0.01)


def test_numbers_of_a_curve():
    found = curve([AT_EPSILON, AT_DELTA], tests=2)
    level = 0.05 / 4  # two points, two tests
    at_epsilon, at_delta = found["points"]
    implied = CLAIM.delta_at(0.5)
    lower = exact.delta_lower(600, 1000, 100, 1000, 0.5, level)
    assert at_epsilon["delta_lower"] == pytest.approx(lower, rel=1e-9)
    assert at_epsilon["delta_point"] == pytest.approx(0.6 - 0.1 * math.exp(0.5))
    assert at_epsilon["delta_claimed"] == implied
    assert at_epsilon["p_value"] == exact.approximate_p_value(600, 1000, 100, 1000, 0.5, implied)
    lower = exact.approximate_lower(600, 1000, 100, 1000, 0.05, level)
    assert at_delta["epsilon_lower"] == pytest.approx(lower, rel=1e-9)
    claimed = at_delta["epsilon_claimed"]
    assert CLAIM.delta_at(claimed) <= 0.05 < CLAIM.delta_at(claimed - 1e-9)
    assert at_delta["p_value"] == exact.approximate_p_value(600, 1000, 100, 1000, claimed, 0.05)
    assert found["p_value"] == 4 * min(at_epsilon["p_value"], at_delta["p_value"])
    assert found["verdict"] == "refuted"
    assert curve([{**AT_EPSILON, "k1": 100}])["points"][0]["delta_point"] == 0.0
    assert curve([{**AT_DELTA, "k1": 30}])["points"][0]["epsilon_lower"] == 0.0


@pytest.mark.parametrize("side", [1 + 1e-9, 1 - 1e-9])
def test_a_curve_at_its_level(side):
    weak = {"epsilon": 0.5, "k1": 400, "k0": 40}
    tail = exact.approximate_p_value(400, 1000, 40, 1000, 0.5, CLAIM.delta_at(0.5))
    assert 1e-4 < tail < 0.4
    assert curve([weak], alpha=tail * side)["verdict"] == ("refuted" if side > 1 else "not_refuted")
    assert curve([weak, weak], alpha=2 * tail * side)["verdict"] == ("refuted" if side > 1 else "not_refuted")


@pytest.mark.parametrize(("alpha", "verdict"), [(1.0, "refuted"), (0.99, "not_refuted")])
def test_a_curve_that_shows_nothing(alpha, verdict):
    found = curve([{"epsilon": 0.5, "k1": 10, "k0": 10}] * 2, alpha=alpha)
    assert (found["verdict"], found["p_value"], found["epsilon_lower"]) == (verdict, 1.0, 0.0)


def test_no_promise_below_the_delta_of_the_claim():
    [point] = curve([{"delta": 0.001, "k1": 600, "k0": 0}])["points"]
    assert (point["epsilon_claimed"], point["p_value"]) == ("inf", 1.0)


@pytest.mark.parametrize(
    ("claim", "delta", "epsilon"),
    [
        (CLAIM, 0.01, 1.0),
        (CLAIM, 0.01 * (1 - 1e-9), math.inf),
        (CLAIM, 1e-9, math.inf),
        (CLAIM, CLAIM.delta_at(0.0), 0.0),
        (CLAIM, 0.9, 0.0),
        (CLAIM, CLAIM.delta_at(0.02), 0.02),
        (CLAIM, CLAIM.delta_at(0.25), 0.25),
        (CLAIM, CLAIM.delta_at(0.75), 0.75),
        (PrivacyClaim(zcdp_epsilon(0.1, 1e-5), 1e-5, rho=0.1), 1e-7, zcdp_epsilon(0.1, 1e-7)),
    ],
)
def test_the_epsilon_that_a_claim_implies(claim, delta, epsilon):
    """The least at which delta is promised, found to within a unit in the last places."""
    found = curves._epsilon_claimed(claim, delta)
    assert found == (pytest.approx(epsilon, rel=1e-12) if epsilon else 0.0)


def test_the_epsilon_that_a_curve_implies_between_its_points():
    claim = PrivacyClaim(zcdp_epsilon(0.1, 1e-5), 1e-5, rho=0.1)
    found = curves._epsilon_claimed(claim, 1e-3)
    assert 0 < found < claim.epsilon
    assert claim.delta_at(found) <= 1e-3 < claim.delta_at(found * (1 - 1e-9))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([{"delta": 0.01, "epsilon_lower": 2.0}], [2.0]),  # epsilon grows as delta falls
        ([{"delta": 0.02, "epsilon_lower": 2.0}], [2.0]),
        ([{"delta": 0.0099, "epsilon_lower": 2.0}], []),
        ([{"epsilon": 0.5, "delta_lower": 0.0101}], [0.5]),
        ([{"epsilon": 0.5, "delta_lower": 0.01}], []),
        ([{"epsilon": 0.5, "delta_lower": 0.5}, {"delta": 0.5, "epsilon_lower": 1.0}], [1.0, 0.5]),
    ],
)
def test_what_points_imply_at_the_delta_of_the_claim(rows, found):
    assert curves._implied(rows, 0.01) == found


def test_the_largest_of_what_points_imply():
    low, high = {"epsilon": 0.0, "k1": 600, "k0": 10}, {"epsilon": 0.5, "k1": 600, "k0": 10}
    assert curve([low, high])["epsilon_lower"] == 0.5
    assert curve([high, low])["epsilon_lower"] == 0.5


@pytest.mark.parametrize("turned", [False, True])
def test_bounds_are_made_monotone(turned):
    """What holds at an epsilon, or a delta, holds at every smaller one."""
    rows = [
        {"epsilon": 0.5, "delta_lower": 0.1},
        {"epsilon": 1.0, "delta_lower": 0.3},
        {"epsilon": 2.0, "delta_lower": 0.2},
        {"delta": 0.1, "epsilon_lower": 1.0},
        {"delta": 0.2, "epsilon_lower": 3.0},
        {"delta": 0.3, "epsilon_lower": 2.0},
    ]
    found = curves._monotone(rows[::-1] if turned else rows)
    found = found[::-1] if turned else found
    assert [row["delta_lower"] for row in found[:3]] == [0.3, 0.3, 0.2]
    assert [row["epsilon_lower"] for row in found[3:]] == [3.0, 3.0, 2.0]
