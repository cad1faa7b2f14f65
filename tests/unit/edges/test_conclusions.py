"""Edges of what follows from the checks of a record: verdict, reason, lead, bounds, and mutants."""

import math

import pytest

from tests.records import read_all
from verifiable_dp.record import conclude
from verifiable_dp.selfcheck import mutation

IN, OVER = 1 + 0.99e-9, 1 + 1.01e-9  # a billionth of the claim is rounding


def check(kind, verdict="not_refuted", name=None, **given):
    """A check against epsilon 1; keys of a result are given with `r_` before them."""
    numbers = {"epsilon": 1.0} | {key: value for key, value in given.items() if not key.startswith("r_")}
    result = {"verdict": verdict} | {key[2:]: value for key, value in given.items() if key.startswith("r_")}
    return {"name": name or kind, "kind": kind, "statistics": numbers, "result": result}


def box(verdict="not_refuted", lower=0.5, detectable=1.5, **given):
    return check("black_box", verdict, r_epsilon_lower=lower, r_detectable=detectable, **given)


def between(verdict="not_refuted", lower=0.7, **given):
    return check("between", verdict, r_epsilon_lower=lower, r_detectable=1.2, **given)


def aligned(verdict="not_refuted", visible=True, cost=0.5, **given):
    return check("alignment", verdict, visible=visible, max_cost=cost, r_epsilon_lower=0.5, **given)


def traced(cost=0.5, holds=True, **given):
    return check("tracing", max_cost=cost, r_holds=holds, r_epsilon_lower=0.0, **given)


def upper(verdict="not_refuted", epsilon=1.0, scope="certified", tested=(), name="upper bound", **given):
    premises = [{"id": "x", "values": {}, "tested_by": of} for of in tested]
    numbers = {"delta": 0.0, "scope": scope, "paths": 3, "premises": premises}
    return check("upper_bound", verdict, name, r_epsilon_upper=epsilon, **numbers, **given)


def places(holds):
    return check("positions", "not_refuted" if holds else "inconclusive", r_holds=holds, where="run 3")


OPEN = {"open": True, "file": "a.py", "line": 3}


@pytest.mark.parametrize(
    ("checks", "wanted"),
    [
        ([], ("inconclusive", "unsearched")),
        ([box()], ("not_refuted", None)),
        ([box("refuted")], ("refuted", None)),
        ([box(), aligned("refuted")], ("refuted", None)),
        ([box("refuted"), upper()], ("refuted", None)),  # whatever is proved beside it
        ([box(), aligned("inconclusive")], ("inconclusive", "lead")),
        ([upper()], ("not_refuted", None)),
        ([upper(), box(lower=0.0)], ("not_refuted", None)),
        ([upper(), check("numerics", "inconclusive", r_epsilon_lower=0.0)], ("not_refuted", None)),
        ([box(), check("numerics", "inconclusive", r_epsilon_lower=0.0)], ("inconclusive", "weak")),
        # An upper bound whose premise does not hold is no bound, and speaks against nothing.
        ([box(), upper(tested=["tracing"]), traced(holds=False)], ("not_refuted", None)),
        ([box(), upper("inconclusive", 2.0, tested=["tracing"])], ("not_refuted", None)),
        ([box(), upper("inconclusive", 2.0)], ("inconclusive", "lead")),
        ([box(lower=0.0)], ("inconclusive", "unsearched")),
        ([box(lower=0.0), check("sources", doubts=[])], ("inconclusive", "unsearched")),
        ([box(lower=1e-300)], ("not_refuted", None)),
        ([box(detectable=2.0)], ("not_refuted", None)),
        ([box(detectable=2 * IN)], ("not_refuted", None)),
        ([box(detectable=2 * OVER)], ("inconclusive", "weak")),
        ([box(detectable="inf")], ("inconclusive", "weak")),
        ([box(detectable="inf"), box(detectable=1.5, name="again")], ("not_refuted", None)),
        ([check("black_box", r_epsilon_lower=0.5)], ("inconclusive", "weak")),
        ([check("shuffle", r_epsilon_lower=0.5)], ("not_refuted", None)),
        ([aligned()], ("inconclusive", "unsearched")),
        ([aligned(), check("shuffle")], ("not_refuted", None)),
        ([box(lower=0.0), between()], ("not_refuted", None)),
        ([box(lower=0.0), between(lower=0.0)], ("inconclusive", "unsearched")),
        ([box(lower=0.0, detectable=5.0), between()], ("not_refuted", None)),
        ([box(detectable=5.0), between()], ("inconclusive", "weak")),
    ],
)
def test_the_verdict_and_why_it_is_open(checks, wanted):
    assert conclude.conclusion(read_all(checks)) == wanted
    assert conclude.privacy(read_all(checks)) == wanted[0]


@pytest.mark.parametrize(("detect", "verdict"), [(1.5, "not_refuted"), (1.49, "inconclusive")])
def test_what_has_to_be_detectable_may_be_asked_for(detect, verdict):
    assert conclude.privacy(read_all([box(detectable=1.5)]), detect) == verdict


def test_detectable_is_in_units_of_the_claim():
    checks = [box(detectable=1.0, epsilon=0.5)]
    assert conclude.privacy(read_all(checks)) == "not_refuted"
    assert conclude.privacy(read_all([box(detectable=1.01, epsilon=0.5)])) == "inconclusive"


@pytest.mark.parametrize(
    ("checks", "begins"),
    [
        ([box()], ""),
        ([box(lower=1.0)], ""),
        ([box(lower=IN)], ""),
        ([check("black_box", epsilon=0.01)], ""),
        ([box(lower=OVER)], "the lower bound of black_box"),
        ([box(lower=2.5)], "the lower bound of black_box, 2.5, is above the claim of 1"),
        ([check("sequential", r_epsilon_lower=OVER)], "the lower bound of sequential"),
        ([check("curve", r_epsilon_lower=OVER)], ""),  # not what a sampled audit rests on
        # A fluke, where every loss was computed or the instance has a certificate.
        ([box(lower=2.0), aligned()], ""),
        ([box(lower=2.0), aligned(visible=False)], "the lower bound"),
        ([box(lower=2.0), aligned("inconclusive", cost=2.0)], "the lower bound"),
        ([box(lower=2.0), upper()], ""),
        ([box(lower=2.0), upper(scope="every path")], "the lower bound"),
        ([box(lower=2.0), upper("inconclusive", 3.0)], "the lower bound"),
        ([aligned("inconclusive", cost=2.0)], "alignment found a cost of 2, claimed 1"),
        ([aligned("not_refuted", visible=False, cost=0.5)], ""),
        ([places(True)], ""),
        ([places(False)], "some runs of a call are distributed differently"),
        ([check("sources", "inconclusive", doubts=["a seed"])], "a seed"),
        ([check("sources", doubts=[])], ""),
        (
            [between("inconclusive", lower=2.0)],
            "values strictly between the bounds cost at least 2, but 1 is claimed, and values at the bounds "
            "cost less",
        ),
        ([between(lower=0.7)], ""),
        ([upper("inconclusive", 2.0)], "the upper bound, 2, lies above"),
        ([upper("inconclusive", 2.0), upper(name="another")], ""),
        ([upper()], ""),
        # Tracing, unless a bound lies within the claim.
        ([traced()], ""),
        ([traced(cost=IN)], ""),
        ([traced(cost=OVER)], "tracing found a cost"),
        ([traced(cost=2.5)], "tracing found a cost of 2.5, claimed 1"),
        ([traced(cost=2.0), upper()], ""),
        ([traced(cost=2.0), upper("inconclusive", 2.0)], "tracing found a cost"),
        ([traced(cost=2.0, delta=1e-5)], ""),  # with delta single runs may cost more
        ([traced(cost=2.0, delta=0.0)], "tracing found a cost"),
        ([traced(cost=2.0), box(delta=1e-5)], ""),
        ([traced(cost=2.0), box(delta=0.0), box(delta=1e-5, name="again")], ""),
        ([traced(same_output=False)], "tracing saw different actions"),
        ([traced(same_output=True)], ""),
        ([traced(leads=[OPEN])], "raw data decide at a.py:3"),
        ([traced(leads=[{**OPEN, "what": "raw"}])], "raw data decide"),
        ([traced(leads=[{**OPEN, "what": "shared"}])], "at a.py:3, one draw hides rewards"),
        ([traced(leads=[{**OPEN, "what": "unsettled"}])], "we cannot tell whether noise hides"),
        ([traced(leads=[{**OPEN, "what": "unfollowed"}])], "we cannot follow a.py:3"),
        ([traced(leads=[{**OPEN, "what": "seeds"}])], "at a.py:3, noise takes only a few values"),
        ([traced(leads=[{**OPEN, "open": False, "what": "seeds"}])], ""),
        ([traced(leads=[{**OPEN, "open": False}])], ""),
        ([traced(leads=[{**OPEN, "open": False, "what": "shared"}])], ""),
        ([traced(leads=[{**OPEN, "open": False, "what": "unsettled"}])], ""),
        ([traced(leads=[{**OPEN, "open": False}, OPEN])], "raw data decide"),
        ([traced(holds=False)], ""),
        ([traced(attained=True)], ""),
        ([traced(attained=False, holds=False)], "tracing could not follow every report"),
    ],
)
def test_what_speaks_against_a_claim(checks, begins):
    found = conclude.lead(read_all(checks))
    assert found.startswith(begins)
    assert bool(found) == bool(begins)


@pytest.mark.parametrize(
    ("checks", "least"),
    [
        ([], None),
        ([check("black_box", r_epsilon_lower=0.5)], None),
        ([box(detectable=3.0), box(detectable=1.5, name="again")], 1.5),
        ([box(detectable="inf"), box(detectable=1.5, name="again")], 1.5),
        ([box(detectable="inf")], "inf"),
        ([box(detectable=3.0), between()], 3.0),
        ([box(lower=0.0, detectable=3.0), between()], 1.2),
        ([box(lower=0.0, detectable=3.0), between(lower=0.0)], 3.0),
        ([box(lower=0.0, detectable=3.0), check("exact", r_epsilon_lower=0.1), between()], 3.0),
    ],
)
def test_what_is_detectable(checks, least):
    assert conclude.detectable(read_all(checks)) == least


@pytest.mark.parametrize(
    ("checks", "lower"),
    [
        ([], 0.0),
        ([box(lower=0.5), box(lower=0.75, name="again")], 0.75),
        ([box(lower=0.5), between(lower=3.0)], 0.5),  # values between the bounds only lead
        ([box(lower=0.5), check("alignment", r_epsilon_lower="inf")], "inf"),
        ([check("sources", doubts=[])], 0.0),
    ],
)
def test_the_largest_lower_bound(checks, lower):
    assert conclude.epsilon_lower(read_all(checks)) == lower


@pytest.mark.parametrize(
    ("checks", "scopes", "wanted"),
    [
        ([], (), None),
        ([box()], (), None),
        ([upper()], (), True),
        ([upper()], ("certified",), True),
        ([upper()], ("every path",), False),
        ([upper()], ("every path", "certified"), True),
        ([upper("inconclusive", 2.0)], (), False),
        ([upper("inconclusive", 2.0), upper(epsilon=0.5, name="less")], (), True),
        ([upper("inconclusive", 0.5, name="less"), upper()], (), False),  # the least decides
        ([upper(epsilon="inf")], (), True),
        ([upper(tested=["tracing"])], (), None),
        ([upper(tested=["tracing"]), traced()], (), True),
        ([upper(tested=[""])], (), True),  # what no check can test
        ([upper(tested=["tracing", "alignment"]), traced()], (), None),
        ([upper(tested=["tracing"]), traced(holds=False)], (), None),
        ([upper(tested=["alignment"]), aligned()], (), True),
        ([upper(tested=["alignment"]), aligned("inconclusive")], (), None),
    ],
)
def test_upper_bounds_that_stand(checks, scopes, wanted):
    """None: no bound at all."""
    found = conclude.epsilon_upper(read_all(checks))
    assert (found is None) == (wanted is None)
    assert conclude.bounded(read_all(checks), *scopes) == bool(wanted)


def test_the_least_bound_is_the_one_that_is_stated():
    checks = [
        upper(epsilon=0.75, name="a"),
        upper(epsilon=0.5, scope="every path", name="b"),
        upper(epsilon="inf", name="c"),
    ]
    wanted = {"epsilon": 0.5, "delta": 0.0, "scope": "every path", "paths": 3, "check": "b"}
    for given in (checks, checks[::-1]):
        found = conclude.epsilon_upper(read_all(given))
        assert found.as_dict() == wanted


# ---------------------------------------------------------------- regret and mutants


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ([], None),
        (["vacuous"], "vacuous"),
        (["vacuous", "consistent"], "consistent"),
        (["consistent", "consistent"], "consistent"),
        (["consistent", "inconclusive"], "inconclusive"),
        (["inconclusive", "inconclusive"], "inconclusive"),
        (["vacuous", "inconclusive"], "inconclusive"),
        (["consistent", "contradicted"], "contradicted"),
        (["vacuous", "contradicted"], "contradicted"),
    ],
)
def test_the_verdict_on_regret(verdicts, whole):
    assert conclude.regret(read_all([check("mean_bound", verdict) for verdict in verdicts])) == whole


@pytest.mark.parametrize(
    ("breaks", "verdicts", "found"),
    [
        ("privacy", ["not_refuted", "refuted"], "refuted"),
        ("privacy", ["not_refuted", "inconclusive"], "not_refuted"),
        ("privacy", ["contradicted"], "not_refuted"),
        ("regret", ["consistent", "contradicted"], "contradicted"),
        ("regret", ["refuted"], "not_contradicted"),
        ("regret", [], "not_contradicted"),
    ],
)
def test_the_verdict_on_a_mutant(breaks, verdicts, found):
    checks = read_all(check("black_box", verdict) for verdict in verdicts)
    assert conclude.mutant(breaks, checks) == found


RAN = {"n1": 30, "n0": 20}
SURE = check("alignment", "refuted", r_epsilon_lower=3.0, examined=7)
SEEN = check("alignment", r_epsilon_lower=0.5, examined=5)
RAN_BOX = check("black_box", r_epsilon_lower=0.25, **RAN)


@pytest.mark.parametrize(
    ("checks", "closed", "wanted"),
    [
        ([SURE], None, ("killed", "refuted", 3.0, 7, 0)),
        ([SURE], 2.0, ("killed", "refuted", 2.0, 7, 0)),
        ([SEEN, SURE], None, ("killed", "refuted", 3.0, 12, 0)),
        ([SEEN, RAN_BOX], None, ("undecided", "not_refuted", None, 5, 50)),
        ([SEEN, RAN_BOX, RAN_BOX], 1.0, ("within_the_claim", "not_refuted", 1.0, 5, 100)),
        ([SEEN], IN, ("within_the_claim", "not_refuted", IN, 5, 0)),
        ([SEEN], OVER, ("survived", "not_refuted", OVER, 5, 0)),
        ([SEEN], "inf", ("survived", "not_refuted", "inf", 5, 0)),
        ([], None, ("undecided", "not_refuted", None, 0, 0)),
    ],
)
def test_a_row_of_the_kill_table(checks, closed, wanted):
    found = mutation.concluded({"checks": checks, "closed_form": closed, "epsilon": 1.0})
    assert (
        tuple(found[name] for name in ("outcome", "verdict", "true_epsilon", "transcripts", "runs")) == wanted
    )
    assert found["at_most"] == ("inf" if closed is None else closed)
    assert found["killed_by"] == ("alignment" if wanted[0] == "killed" else "")


@pytest.mark.parametrize(("checks", "least"), [([SEEN, RAN_BOX], 0.5), ([RAN_BOX, SEEN], 0.5), ([], 0.0)])
def test_a_row_states_the_largest_lower_bound(checks, least):
    found = mutation.concluded({"checks": checks, "closed_form": None, "epsilon": 1.0})
    assert (found["at_least"], found["true_epsilon_by"]) == (least, "unknown")
    assert math.isinf(float(found["at_most"]))
