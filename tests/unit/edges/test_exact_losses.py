"""Edges of the judges that compute losses: alignment, exact laws, shuffled batches, tracing, statements."""

import math

import pytest

from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.tapes import Divergence
from verifiable_dp.evidence import origins
from verifiable_dp.evidence.alignment import checking, replay, searching
from verifiable_dp.evidence.check import Check, judged, slack_of
from verifiable_dp.evidence.tracing import replays
from verifiable_dp.evidence.tracing.ledger import NoteKind
from verifiable_dp.evidence.upper import epsilon_of_mu

IN, OVER = 1 + 0.99e-9, 1 + 1.01e-9  # a billionth of the claim is rounding


@pytest.mark.parametrize(
    ("paid", "epsilon", "over"),
    [
        (1.0, 1.0, False),
        (IN, 1.0, False),
        (1 * (1 + 1e-9), 1.0, False),
        (OVER, 1.0, True),
        (math.inf, 1.0, True),
        (0.5 * IN, 0.5, False),
        (0.5 * OVER, 0.5, True),
    ],
)
def test_what_exceeds_a_claim(paid, epsilon, over):
    assert replay.exceeds(paid, epsilon) is over


@pytest.mark.parametrize(
    ("loss", "lower"),
    [
        (0.0, 0.0),
        (0.5, 0.5 * (1 - 1e-12)),
        (IN, 1.0),  # rounding does not lift a lower bound above the claim
        (OVER, OVER * (1 - 1e-12)),
        (2.0, 2 * (1 - 1e-12)),
    ],
)
def test_the_lower_bound_of_a_loss_is_rounded_down(loss, lower):
    assert replay.at_least(loss, 1.0) == pytest.approx(lower, rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "verdict", "lower", "wasted"),
    [
        ({}, "not_refuted", 1.0, False),
        ({"max_loss": IN, "max_cost": IN}, "not_refuted", 1.0, False),
        ({"max_loss": OVER, "max_cost": OVER}, "refuted", OVER, False),
        ({"max_cost": IN}, "not_refuted", 1.0, False),
        ({"max_cost": OVER}, "inconclusive", 1.0, False),
        ({"visible": False, "max_loss": 2.0, "max_cost": 2.0}, "inconclusive", 0.0, False),
        ({"visible": False, "max_loss": 2.0}, "not_refuted", 0.0, False),
        ({"visible": False}, "not_refuted", 0.0, False),
        ({"shared_draws": True}, "refuted", 1.0, False),
        ({"shared_draws": True, "visible": False}, "refuted", 0.0, False),
        ({"shared_draws": False}, "not_refuted", 1.0, False),
        ({"max_cost": 1 - 0.99e-6}, "not_refuted", 1.0, False),
        ({"max_cost": 1 - 1.01e-6}, "not_refuted", 1.0, True),
        ({"max_cost": 1 - 1.04e-6}, "not_refuted", 1.0, True),
        ({"max_cost": 1 - 0.96e-6}, "not_refuted", 1.0, False),
        ({"max_cost": 1 * (1 - 1e-6)}, "not_refuted", 1.0, False),
        ({"max_loss": 0.25, "max_cost": 0.5}, "not_refuted", 0.25, True),
    ],
)
def test_alignment(changes, verdict, lower, wasted):
    found = judged("alignment", {"epsilon": 1.0, "visible": True, "max_cost": 1.0, "max_loss": 1.0} | changes)
    assert (found["verdict"], found["noise_wasted"]) == (verdict, wasted)
    assert found["epsilon_lower"] == pytest.approx(lower, rel=2e-12)


def test_alignment_states_the_cost_in_units_of_the_claim():
    numbers = {"epsilon": 0.5, "visible": True, "max_cost": "inf", "max_loss": 0.125}
    found = judged("alignment", numbers)
    assert (found["verdict"], found["cost_over_epsilon"]) == ("inconclusive", "inf")
    assert judged("alignment", numbers | {"max_cost": 0.25})["cost_over_epsilon"] == 0.5


@pytest.mark.parametrize(
    ("loss", "divergence", "visible", "refutes"),
    [
        (IN, "", True, False),
        (OVER, "", True, True),
        (OVER, "", False, False),
        (0.0, Divergence.UNDRAWN, False, True),
        (0.0, Divergence.UNDRAWN, True, True),
        (0.0, Divergence.SCALE, True, False),
    ],
)
def test_when_a_search_may_end(loss, divergence, visible, refutes):
    found = searching.Found(1, loss, loss, divergence, {})
    assert checking._refutes(found, 1.0, visible) == refutes


# ---------------------------------------------------------------- exact laws


def law(*pairs, delta=0.0, epsilon=1.0):
    rows = [
        {
            "epsilon": 0.5,
            "epsilon_at_delta": 0.5,
            "delta": 0.0,
            "delta_upper": 0.0,
            "remainder": 0.0,
            "pair_number": number,
            "path": f"path {number}",
            "direction": "d",
        }
        | pair
        for number, pair in enumerate(pairs)
    ]
    return judged("exact", {"epsilon": epsilon, "delta": delta, "pairs": rows})


@pytest.mark.parametrize(
    ("pairs", "delta", "verdict", "worst"),
    [
        ([{"epsilon": IN}], 0.0, "not_refuted", 0),
        ([{"epsilon": OVER}], 0.0, "refuted", 0),
        ([{"epsilon": 0.9}, {"epsilon": OVER}, {"epsilon": 0.8}], 0.0, "refuted", 1),
        ([{"epsilon": 0.9}, {"epsilon": 0.95}], 0.0, "not_refuted", 1),
        ([{"epsilon": "inf"}], 0.0, "refuted", 0),
        ([{"delta": 0.9}], 0.0, "not_refuted", 0),  # without delta the losses of paths decide
        ([{"epsilon": "inf", "delta": 0.01}], 0.01, "not_refuted", 0),  # with delta they do not
        ([{"delta": 0.01 + 0.9e-12}], 0.01, "not_refuted", 0),  # 1e-12 is rounding
        ([{"delta": 0.01 + 1e-12}], 0.01, "not_refuted", 0),  # included
        ([{"delta": 0.01 + 0.97e-12}], 0.01, "not_refuted", 0),
        ([{"delta": 0.01 + 1.02e-12}], 0.01, "refuted", 0),
        ([{"delta": 0.01 + 1.1e-12}], 0.01, "refuted", 0),
        ([{"delta": 0.001}, {"delta": 0.02}, {"delta": 0.002}], 0.01, "refuted", 1),
        # Delta lies between its bounds: only the lower one refutes.
        ([{"delta": 0.005, "delta_upper": 0.02}], 0.01, "not_refuted", 0),
        ([{"delta": 0.02, "delta_upper": 0.02}], 0.01, "refuted", 0),
        # The pair with the larger delta is not that with the larger epsilon at delta.
        ([{"delta": 0.001, "epsilon_at_delta": 3.0}, {"delta": 0.02}], 0.01, "refuted", 1),
        ([{"delta": 0.001, "epsilon_at_delta": 0.1}, {"delta": 0.002}], 0.01, "not_refuted", 1),
    ],
)
def test_an_exact_law(pairs, delta, verdict, worst):
    found = law(*pairs, delta=delta)
    assert (found["verdict"], found["pair_number"], found["path"]) == (verdict, worst, f"path {worst}")


def test_numbers_of_an_exact_law():
    pairs = [
        {"epsilon": 0.25, "epsilon_at_delta": 0.75, "delta": 0.001, "delta_upper": 0.003, "remainder": 1e-9},
        {"epsilon": 0.5, "epsilon_at_delta": 0.125, "delta": 0.002, "delta_upper": 0.0025, "remainder": 2e-9},
    ]
    for rows in (pairs, pairs[::-1]):
        found = law(*rows)
        assert found["epsilon_lower"] == pytest.approx(0.5, rel=1e-11)
        numbers = [found[name] for name in ("delta_lower", "delta_upper", "remainder")]
        assert numbers == [0.002, 0.003, 2e-9]
        assert law(*rows, delta=0.01)["epsilon_lower"] == pytest.approx(0.75, rel=1e-11)


# ---------------------------------------------------------------- shuffled batches

BATCH = {"crowd": 20, "scale": 2.0, "range": 2.0, "epsilon": 0.2, "delta": 1e-3}


def batch(**changes):
    return judged("shuffle", BATCH | changes)


# Rewards in [-1, 1] with noise of scale 2: each report alone has epsilon 1.
LOWER, CUT = shuffle.worst_threshold(20, 2.0, 0.2)
UPPER = shuffle.clones_delta(20, 1.0, 0.2)
# The delta from which 1e-12 leads exactly to the lower bound, which is not beyond it then.
AT = next(d for k in range(-99, 99) if (d := LOWER - 1e-12 + k * math.ulp(LOWER)) + 1e-12 == LOWER)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"delta": UPPER}, "not_refuted"),
        ({"delta": UPPER * (1 - 1e-9)}, "inconclusive"),
        ({"delta": LOWER}, "inconclusive"),
        ({"delta": LOWER - 0.9e-12}, "inconclusive"),
        ({"delta": LOWER - 0.97e-12}, "inconclusive"),
        ({"delta": AT}, "inconclusive"),
        ({"delta": LOWER - 1.03e-12}, "refuted"),
        ({"delta": LOWER * 0.99}, "refuted"),
        # One report alone keeps the claim: nothing is left for the crowd to hide.
        ({"epsilon": 1.0, "delta": 0.0}, "not_refuted"),
        ({"epsilon": 1 - 2e-9, "delta": 0.0, "crowd": 1}, "refuted"),
        ({"epsilon": 1 - 0.9e-9, "delta": 0.0, "crowd": 1}, "not_refuted"),
        ({"scale": 0.0, "delta": 1e-3}, "refuted"),  # exact values
        ({"scale": 0.0, "delta": 0.999}, "refuted"),
        ({"scale": 0.0, "delta": 1.0}, "not_refuted"),
        ({"scale": 4.0, "range": 4.0, "delta": UPPER}, "not_refuted"),
        ({"scale": 4.0, "range": 4.0, "delta": LOWER * 0.99}, "refuted"),
    ],
)
def test_a_shuffled_batch(changes, verdict):
    assert batch(**changes)["verdict"] == verdict


def test_numbers_of_a_shuffled_batch():
    found = batch(delta=1e-4)
    names = ("local_epsilon", "delta_lower", "delta_upper", "threshold")
    assert [found[name] for name in names] == pytest.approx([1.0, LOWER, UPPER, CUT])
    low, high = found["epsilon_lower"], found["epsilon_upper"]
    assert 0 < low < high < 1
    assert shuffle.laplace_delta(20, 2.0, low, CUT) >= 1e-4 >= shuffle.laplace_delta(20, 2.0, low * 1.01, CUT)
    assert shuffle.clones_delta(20, 1.0, high) <= 1e-4 <= shuffle.clones_delta(20, 1.0, high * 0.99)


def test_numbers_of_a_batch_that_is_within_the_claim():
    found = batch(epsilon=1.0, delta=1e-5)
    assert (found["delta_lower"], found["delta_upper"]) == (0.0, 0.0)
    # Without a lower bound at the claim the threshold is the one that shows something at a smaller epsilon.
    assert shuffle.laplace_delta(20, 2.0, 0.1, found["threshold"]) > 1e-5
    assert batch(epsilon=1.0, delta=1e-6)["threshold"] == -0.375


def test_numbers_of_exact_values():
    found = batch(scale=0.0)
    assert found == {
        "verdict": "refuted",
        "local_epsilon": "inf",
        "delta_lower": 1.0,
        "delta_upper": 1.0,
        "threshold": 0.0,
        "epsilon_lower": "inf",
        "epsilon_upper": "inf",
    }


# ---------------------------------------------------------------- tracing

TRACED = {
    "epsilon": 1.0,
    "max_cost": 1.0,
    "rho": 0.0,
    "delta": 0.0,
    "examined": 3,
    "failure": "",
    "same_output": True,
    "leads": [],
    "notes": [],
    "divergence": "",
}
NOTE = {"kind": str(NoteKind.UNFOLLOWED), "file": "a.py", "line": 3}
OTHER = {"kind": str(NoteKind.FIXED), "file": "a.py", "line": 3}


@pytest.mark.parametrize(
    ("changes", "verdict", "holds", "lower", "detectable"),
    [
        ({}, "not_refuted", True, 0.0, None),
        ({"max_cost": IN}, "not_refuted", True, 0.0, None),
        ({"max_cost": OVER}, "not_refuted", False, 0.0, None),
        ({"examined": 0}, "not_refuted", False, 0.0, None),
        ({"examined": 1}, "not_refuted", True, 0.0, None),
        ({"failure": "it raises"}, "not_refuted", False, 0.0, None),
        ({"same_output": False}, "not_refuted", False, 0.0, None),
        ({"leads": [{"open": True}, {"open": False}]}, "not_refuted", False, 0.0, None),
        ({"leads": [{"open": False}]}, "not_refuted", True, 0.0, None),
        ({"notes": [OTHER, NOTE]}, "not_refuted", False, 0.0, None),
        ({"notes": [OTHER]}, "not_refuted", True, 0.0, None),
        # In the local model a cost that the law of a report attains is exact.
        ({"attained": True}, "not_refuted", True, 1.0, 1.0),
        ({"attained": True, "max_cost": IN}, "not_refuted", True, 1.0, 1.0),
        ({"attained": True, "max_cost": OVER}, "refuted", False, OVER, None),
        ({"attained": False, "max_cost": OVER}, "not_refuted", False, 0.0, None),
        ({"attained": True, "examined": 0, "max_cost": 2.0}, "not_refuted", False, 0.0, None),
        ({"attained": True, "failure": "it raises", "max_cost": 2.0}, "not_refuted", False, 0.0, None),
        ({"attained": True, "notes": [NOTE]}, "not_refuted", False, 1.0, None),
        # With delta a run may cost more; what normal noise costs at delta is exact.
        ({"attained": True, "max_cost": 2.0, "delta": 1e-5}, "not_refuted", False, 0.0, None),
        ({"attained": True, "delta": 1e-5}, "not_refuted", True, 0.0, 1.0),
        ({"attained": True, "max_cost": "inf", "rho": 0.5, "delta": 1e-5}, "refuted", False, None, None),
        ({"attained": True, "max_cost": "inf", "rho": "inf", "delta": 1e-5}, "not_refuted", False, 0.0, None),
    ],
)
def test_tracing(changes, verdict, holds, lower, detectable):
    numbers = {key: value for key, value in (TRACED | changes).items() if key != "delta" or value}
    found = judged("tracing", numbers)
    assert (found["verdict"], found["holds"], found.get("detectable")) == (verdict, holds, detectable)
    wanted = epsilon_of_mu(1.0, 1e-5) if lower is None else lower
    assert found["epsilon_lower"] == pytest.approx(wanted, rel=2e-12)


@pytest.mark.parametrize(
    ("changes", "paid"),
    [
        ({"max_cost": 0.25, "rho": 0.5, "delta": 0.01}, 0.25),
        ({"max_cost": "inf", "rho": 0.5}, math.inf),  # no delta
        ({"max_cost": "inf", "rho": "inf", "delta": 0.01}, math.inf),
        ({"max_cost": "inf", "rho": 0.5, "delta": 0.01, "same_output": False}, math.inf),
        ({"max_cost": "inf", "rho": 0.5, "delta": 0.01}, epsilon_of_mu(1.0, 0.01)),
        ({"max_cost": "inf", "rho": 2.0, "delta": 0.01}, epsilon_of_mu(2.0, 0.01)),
    ],
)
def test_what_traced_runs_cost(changes, paid):
    """Normal noise of rho has mu = sqrt(2 rho)."""
    numbers = {key: value for key, value in (TRACED | changes).items() if key != "delta" or value}
    assert replays.dearest(numbers) == paid


@pytest.mark.parametrize(
    ("changes", "lead"),
    [
        ({}, False),
        ({"max_cost": OVER}, True),
        ({"max_cost": OVER, "examined": 0}, False),
        ({"max_cost": OVER, "failure": "it raises"}, False),
        ({"max_cost": OVER, "attained": True}, False),  # that refutes
        ({"notes": [NOTE]}, False),  # what is not followed speaks against nothing
        ({"notes": [NOTE], "max_cost": OVER}, True),
    ],
)
def test_what_is_a_lead(changes, lead):
    numbers = TRACED | changes
    assert replays.is_lead(numbers, judged("tracing", numbers)) is lead


def test_a_cost_in_units_of_the_claim():
    assert judged("tracing", TRACED | {"epsilon": 0.5, "max_cost": 0.25})["cost_over_epsilon"] == 0.5


# ---------------------------------------------------------------- doubts, statements, and what is not judged


@pytest.mark.parametrize(("doubts", "verdict"), [([], "not_refuted"), (["a seed"], "inconclusive")])
def test_doubts_about_the_source_of_randomness(doubts, verdict):
    assert judged(origins.KIND, {"doubts": doubts}) == {"verdict": verdict}


@pytest.mark.parametrize(
    ("made", "name", "doubts"),
    [
        (origins.check(("a", "b")), "sources of randomness", ["a", "b"]),
        (origins.unlike_elsewhere(), "runs asked again", [origins.ELSEWHERE]),
        (origins.failures(("a",)), "runs that failed", ["a"]),
    ],
)
def test_what_speaks_against_runs_is_named(made, name, doubts):
    assert (made.name, made.kind, made.statistics["doubts"]) == (name, origins.KIND, doubts)
    assert made.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("value", "relation", "limit", "tolerance", "verdict"),
    [
        (2.0, "at most", 2.0, 0.0, "consistent"),
        (2.0 + 1e-12, "at most", 2.0, 0.0, "contradicted"),
        (2.25, "at most", 2.0, 0.25, "consistent"),
        (2.26, "at most", 2.0, 0.25, "contradicted"),
        (-5.0, "at most", 2.0, 0.0, "consistent"),
        (2.0, "at least", 2.0, 0.0, "consistent"),
        (2.0 - 1e-12, "at least", 2.0, 0.0, "contradicted"),
        (1.75, "at least", 2.0, 0.25, "consistent"),
        (1.74, "at least", 2.0, 0.25, "contradicted"),
        (5.0, "at least", 2.0, 0.0, "consistent"),
        (2.0, "equal to", 2.0, 0.0, "consistent"),
        (2.25, "equal to", 2.0, 0.25, "consistent"),
        (1.75, "equal to", 2.0, 0.25, "consistent"),
        (2.26, "equal to", 2.0, 0.25, "contradicted"),
        (1.74, "equal to", 2.0, 0.25, "contradicted"),
    ],
)
def test_a_statement(value, relation, limit, tolerance, verdict):
    numbers = {"value": value, "relation": relation, "limit": limit, "tolerance": tolerance}
    found = judged("statement", numbers)
    assert (found["verdict"], found["ratio"]) == (verdict, value / limit)


@pytest.mark.parametrize(("limit", "ratio"), [(0.0, "inf"), ("inf", "inf"), (4.0, 0.5)])
def test_the_ratio_of_a_statement(limit, ratio):
    numbers = {"value": 2.0, "relation": "at most", "limit": limit, "tolerance": 0.0}
    assert judged("statement", numbers)["ratio"] == ratio


@pytest.mark.parametrize(
    ("carried", "verdict", "lower"),
    [(True, "inconclusive", 0.0), (False, "refuted", 2.0), (None, "refuted", 2.0)],
)
def test_runs_that_depend_on_the_one_before_prove_nothing(carried, verdict, lower):
    numbers = {"epsilon": 1.0, "visible": True, "max_cost": 2.0, "max_loss": 2.0, "carried": carried}
    found = judged("alignment", numbers)
    assert (found["verdict"], found["epsilon_lower"]) == (verdict, pytest.approx(lower))


@pytest.mark.parametrize(
    ("kind", "verdict", "slack"),
    [
        ("mean_bound", "consistent", 4.0),
        ("mean_bound", "vacuous", 1.0),
        ("mean_bound", "contradicted", 1.0),
        ("mean_at_least", "consistent", 1.0),  # a kind that does not say
    ],
)
def test_how_much_more_would_pass(kind, verdict, slack):
    numbers, result = {"mean": 2.0, "bound": 8.0}, {"verdict": verdict}
    assert slack_of(Check("a", kind, numbers, result)) == slack
