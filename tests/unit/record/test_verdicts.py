"""Verdicts follow from checks, and a record that says anything else does not hold, whatever its digest.

Edits are tried on committed records; each edit has the record itself as its negative control.
"""

import copy
import json
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.committed import REPORTS as REPORTS_of_tied
from tests.records import read_all
from verifiable_dp.auditing import subject
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import upper
from verifiable_dp.evidence.upper import UpperBound
from verifiable_dp.record import conclude, words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import digest
from verifiable_dp.record.sealing import sealed as sealed_of_tied
from verifiable_dp.record.verify import examine
from verifiable_dp.registry import entries as registry
from verifiable_dp.render import renderings
from verifiable_dp.render.findings import findings

ROOT = Path(__file__).parents[3]
REPORTS = ROOT / "reports"


def checks(*verdicts, bounds=(), detectable=1.5, kind="black_box"):
    """Checks of one kind; a sampled one says what it would have detected, and what it bounds."""
    found = [
        {"name": f"{kind} {i}", "kind": kind, "statistics": {"epsilon": 1.0}, "result": {"verdict": verdict}}
        for i, verdict in enumerate(verdicts)
    ]
    for check in found:
        check["result"] |= {"epsilon_lower": 0.5, "detectable": detectable}
    for check, bound in zip(found, bounds, strict=False):
        check["result"]["epsilon_lower"] = bound
    return found


@pytest.mark.parametrize(
    ("verdicts", "more", "expected"),
    [
        (("not_refuted", "not_refuted"), {}, ("not_refuted", None)),
        (("not_refuted", "refuted"), {}, ("refuted", None)),
        (("inconclusive", "refuted"), {}, ("refuted", None)),
        (("not_refuted", "inconclusive"), {}, ("inconclusive", "weak")),
        (("not_refuted",), {"detectable": 2.0}, ("not_refuted", None)),
        (("not_refuted",), {"detectable": 2.01}, ("inconclusive", "weak")),
        (("not_refuted",), {"detectable": "inf"}, ("inconclusive", "weak")),
        (("not_refuted",), {"bounds": (0.0,)}, ("inconclusive", "unsearched")),
        (("not_refuted",), {"bounds": (1.01,)}, ("inconclusive", "lead")),
        (("not_refuted",), {"kind": "shuffle"}, ("not_refuted", None)),
        (("inconclusive",), {"kind": "shuffle"}, ("inconclusive", "weak")),
        (("not_refuted",), {"kind": "tracing"}, ("inconclusive", "unsearched")),
        ((), {}, ("inconclusive", "unsearched")),
    ],
)
def test_privacy(verdicts, more, expected):
    """One refutation decides; not refuted is only what would have been seen to be broken, or is bounded."""
    found = checks(*verdicts, **more)
    if more.get("kind") == "tracing":
        found[0]["statistics"] |= {"max_cost": 0.5}
    assert conclude.conclusion(read_all(found)) == expected
    assert conclude.privacy(read_all(found)) == expected[0]


@pytest.mark.parametrize(
    ("bounds", "detectable", "expected"),
    [
        ((0.0, 0.7), 1.5, ("not_refuted", None, 1.5)),
        ((0.0, 0.7), 2.5, ("inconclusive", "weak", 2.5)),
        ((0.0, 0.0), 1.5, ("inconclusive", "unsearched", 1.2)),  # control: nothing made a difference
        ((0.3, 0.7), 1.5, ("not_refuted", None, 1.2)),  # data at the bounds did
    ],
)
def test_where_data_at_the_bounds_make_no_difference_values_between_tell_the_strength(
    bounds, detectable, expected
):
    """A median of zeros and ones does not follow one of them: the audit said that nothing had changed."""
    at, between = checks("not_refuted", bounds=bounds[:1], detectable=1.2), checks("not_refuted")
    between[0] |= {"name": "values between the bounds", "kind": "between"}
    between[0]["result"] |= {"epsilon_lower": bounds[1], "detectable": detectable}
    found = [*at, *between]
    assert (*conclude.conclusion(read_all(found)), conclude.detectable(read_all(found))) == expected


def test_what_has_to_be_detectable_can_be_said():
    found = checks("not_refuted", detectable=1.5)
    assert conclude.conclusion(read_all(found), 1.5) == ("not_refuted", None)
    assert conclude.conclusion(read_all(found), 1.4) == ("inconclusive", "weak")


def seen(kind, epsilon=1.0, delta=0.0, lower=0.1, cost=0.0, visible=False, **more):
    numbers = {"epsilon": epsilon, "delta": delta, "max_cost": cost, "visible": visible, **more}
    result = {"verdict": "not_refuted", "epsilon_lower": lower, "detectable": 1.2}
    if kind == "alignment" and not visible and cost > epsilon:
        result["verdict"] = "inconclusive"
    return {"name": kind, "kind": kind, "statistics": numbers, "result": result}


def bounded(epsilon, scope="certified"):
    terms = [{"state": "", "terms": [[epsilon, 1.0, 1]]}]
    made = UpperBound.of({"form": "sums", "states": terms}, method="states", premises=(), scope=scope)
    return made.check(PrivacyClaim(1.0)).as_dict()


ALL_LOSSES = seen("alignment", visible=True)
LEAD = {"file": "code.py", "line": 7, "open": True}


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([seen("black_box", lower=1.0)], ""),
        ([seen("black_box", lower=1.01)], "the lower bound of black_box, 1.01, is above the claim of 1"),
        ([seen("sequential", lower=1.01)], "the lower bound of sequential, 1.01, is above"),
        ([seen("black_box", lower=1.01), ALL_LOSSES], ""),
        ([seen("black_box", lower=1.01), seen("alignment"), bounded(1.0)], ""),
        ([seen("black_box", lower=1.01), bounded(1.0, "every path")], "the lower bound of black_box"),
        ([seen("black_box", lower=1.01), bounded(1.1)], "the lower bound of black_box"),
        ([seen("black_box", lower=1.01), seen("alignment")], "the lower bound of black_box"),
        ([seen("alignment", cost=1.01), seen("black_box")], "alignment found a cost of 1.01, claimed 1"),
        ([seen("tracing", cost=1.01)], "tracing found a cost of 1.01, claimed 1"),
        ([seen("tracing", cost=1.01), bounded(1.0, "n paths"), seen("black_box")], ""),
        ([seen("tracing", cost=1.01), seen("black_box", delta=0.1)], ""),
        ([seen("tracing", leads=[LEAD]), seen("black_box", delta=0.1)], "raw data decide at code.py:7"),
        ([seen("tracing", leads=[{**LEAD, "open": False}]), seen("black_box")], ""),
        ([seen("tracing", same_output=False)], "tracing saw different actions"),
        ([seen("tracing", cost=1.0), seen("black_box")], ""),
        ([bounded(1.1, "n paths"), seen("black_box", delta=0.1)], "the upper bound, 1.1, lies above"),
        ([bounded(1.0, "n paths"), seen("black_box", delta=0.1)], ""),
    ],
)
def test_a_lead_leaves_the_claim_open(found, says):
    """Not significant, but against the claim: an audit that says `not_refuted` beside it would mislead."""
    assert conclude.lead(read_all(found)).startswith(says)
    assert bool(conclude.lead(read_all(found))) == bool(says)
    assert conclude.conclusion(read_all(found)) == (
        ("inconclusive", "lead") if says else ("not_refuted", None)
    )


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ((), None),
        (("consistent", "consistent"), "consistent"),
        (("consistent", "vacuous"), "consistent"),
        (("vacuous", "vacuous"), "vacuous"),
        (("consistent", "inconclusive"), "inconclusive"),
        (("inconclusive", "vacuous"), "inconclusive"),
        (("consistent", "inconclusive", "contradicted"), "contradicted"),
    ],
)
def test_regret(verdicts, verdict):
    """One contradiction decides; one check that is open leaves all open."""
    assert conclude.regret(read_all(checks(*verdicts))) == verdict


def test_the_largest_lower_bound_counts():
    assert conclude.epsilon_lower(read_all(checks(*["refuted"] * 3, bounds=(0.5, 2.0, 1.0)))) == 2.0
    assert conclude.epsilon_lower(read_all(checks(*["refuted"] * 2, bounds=(0.5, "inf")))) == "inf"
    assert conclude.epsilon_lower(read_all([])) == 0.0


@pytest.mark.parametrize(
    ("breaks", "verdicts", "verdict"),
    [
        ("privacy", ("not_refuted", "refuted"), "refuted"),
        ("privacy", ("not_refuted", "inconclusive"), "not_refuted"),
        ("regret", ("consistent", "contradicted"), "contradicted"),
        ("regret", ("vacuous", "inconclusive"), "not_contradicted"),
    ],
)
def test_mutants(breaks, verdicts, verdict):
    assert conclude.mutant(breaks, read_all(checks(*verdicts))) == verdict


@pytest.mark.parametrize(
    ("observe", "delta", "visible"),
    [
        ("releases", 0.0, True),
        ("reports", 0.0, True),
        ("actions", 0.0, False),
        ("releases", 1e-6, False),
        ("reports", 0.1, False),
    ],
)
def test_one_transcript_refutes_only_what_allows_for_no_exception(observe, delta, visible):
    assert subject.visible(PrivacyClaim(1.0, delta, observe=observe)) == visible


def test_all_mutants_are_run():
    report = vdp.audit("tree-sum", budget=0.01)
    expected = [mutant.name for mutant in registry.auditor("tree-sum").mutants if mutant.breaks == "privacy"]
    assert [mutant["name"] for mutant in report.record["mutants"]] == expected


# ---------------------------------------------------------------- edits


def sealed(record):
    """The record with the digest of what it now says."""
    return {**record, "digest": digest(record)}


def put(record, path, value):
    """A copy with another value at a place."""
    changed = copy.deepcopy(record)
    *outer, last = path
    at = changed
    for key in outer:
        at = at[key]
    assert at[last] != value
    at[last] = value
    return changed


@pytest.fixture(scope="module")
def committed():
    return json.loads((REPORTS / "tree-sum" / "record.json").read_text("utf-8"))


def first(record, kind, part="checks"):
    """Place of the first check of a kind."""
    rows = record[part] if part == "checks" else record["regret"]["checks"]
    number = next(i for i, check in enumerate(rows) if check["kind"] == kind)
    return (part, number) if part == "checks" else ("regret", "checks", number)


def caught(record):
    """What the first check of the first mutant was refuted by."""
    return "max_loss" if record["mutants"][0]["checks"][0]["kind"] == "alignment" else "k1"


EDITS = {
    "the verdict": lambda record: put(record, ("verdict",), "inconclusive"),
    "the lower bound": lambda record: put(record, ("epsilon_lower",), 0.5),
    "the verdict on regret": lambda record: put(record, ("regret", "verdict"), "vacuous"),
    "the verdict on a mutant": lambda record: put(record, ("mutants", 0, "verdict"), "not_refuted"),
    "the result of a check": lambda record: put(
        record, (*first(record, "alignment"), "result", "verdict"), "inconclusive"
    ),
    "counts or costs of a mutant": lambda record: put(
        record, ("mutants", 0, "checks", 0, "statistics", caught(record)), 0
    ),
    "failures of a regret check": lambda record: put(
        record, (*first(record, "probability", "regret"), "statistics", "failures"), 7
    ),
    "the reason": lambda record: put(record, ("reason",), "weak"),
    "the upper bound": lambda record: put(record, ("epsilon_upper", "epsilon"), 0.5),
    "what would have been detected": lambda record: put(record, ("detectable",), 1.0),
    "a cost of the certificate": lambda record: put(
        record,
        (*first(record, "upper_bound"), "statistics", "certificate", "states", 0, "terms", 0, 1),
        9.0,
    ),
    "a premise that is not tested": lambda record: put(
        record, (*first(record, "upper_bound"), "statistics", "premises", 0, "tested_by"), "hearsay"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_does_not_follow_does_not_hold(edit, committed):
    with pytest.raises(InputError):
        examine(sealed(EDITS[edit](committed)))


def test_the_record_itself_holds(committed):
    """Negative control of the edits; and the digest is over everything, the seed too."""
    assert examine(committed) == examine(sealed(committed)) >= 10
    for path, value in ((("seed",), 1), (("plan", "alpha"), 1e-5), (("provenance", "version"), "9")):
        changed = put(committed, path, value)
        assert digest(changed) != committed["digest"]
        with pytest.raises(InputError, match=r"edited or corrupted \(its digest"):
            examine(changed)


# What a record says twice must agree: each edit is sealed anew and refused for that alone.


def load(name):
    return json.loads((REPORTS_of_tied / name / "record.json").read_text("utf-8"))


def check_of(record, kind):
    return next(check for check in record["checks"] if check["kind"] == kind)


def claim_is_smaller(record):
    record["claim"]["epsilon"] /= 2


def bound_at_another_delta(record):
    check_of(record, "upper_bound")["statistics"]["delta"] = 0.35


def counterexample_of_no_refutation(record):
    record["counterexamples"] = [{"check": record["checks"][0]["name"], "pair": None, "words": "x"}]


def all_settled(record):
    for left in record["not_covered"]:
        left["settled_by"] = "upper_bound"


def exclusion_without_its_values(record):
    record["not_covered"].append({"id": "call-sizes", "values": {}, "settled_by": None})


def premise_without_its_values(record):
    premise = {"id": "closed-branches", "values": {}, "tested_by": None}
    check_of(record, "upper_bound")["statistics"]["premises"].append(premise)


def premise_left_out(record):
    del check_of(record, "upper_bound")["statistics"]["premises"][0]


def premise_that_nothing_tests(record):
    check_of(record, "upper_bound")["statistics"]["premises"][0]["tested_by"] = ""


def scope_of_another_method(record):
    check_of(record, "upper_bound")["statistics"]["method"] = "tracing"


def two_checks_of_one_name(record):
    record["checks"][1]["name"] = record["checks"][0]["name"]


def power_below_the_claim(record):
    record["power"]["smallest_epsilon"] = 0.5


def power_of_no_run(record):
    record["power"]["largest"] = 0.25


def power_of_no_variant(record):
    record["power"]["black_box"]["smallest_epsilon"] = 1.01


EDITS_OF_TIED = [
    (premise_left_out, "premises must contain post-processing for the method"),
    (premise_that_nothing_tests, "post-processing must name the check that tests it"),
    (scope_of_another_method, "scope must be one of every path, n paths for the method tracing"),
    (two_checks_of_one_name, "distinct names"),
    (power_below_the_claim, "power must agree with alignment"),
    (power_of_no_run, "power must agree with alignment"),
    (power_of_no_variant, "a variant that was tried"),
    (claim_is_smaller, "must (agree with the claim|be 0.5)"),
    (bound_at_another_delta, "delta"),
    (all_settled, "settled_by must be"),
    (exclusion_without_its_values, "allow no conclusion|does not fit"),
    (premise_without_its_values, "allow no conclusion|does not fit|cannot be judged"),
]


@pytest.mark.parametrize(("edit", "why"), EDITS_OF_TIED, ids=[edit.__name__ for edit, _ in EDITS_OF_TIED])
def test_what_does_not_agree_is_refused(edit, why):
    """Negative control: the record as it is."""
    record = load("dp-se")
    examine(record)
    edit(record)
    record.pop("digest")
    with pytest.raises(InputError, match=why):
        examine(sealed_of_tied(record))


def test_a_counterexample_names_a_check_that_refutes():
    """Control: as it is, it does."""
    record = load("dp-linear-printed")
    examine(record)
    passing = next(c["name"] for c in record["checks"] if c["result"]["verdict"] != "refuted")
    edited = copy.deepcopy(record)
    edited["counterexamples"][0]["check"] = passing
    edited.pop("digest")
    with pytest.raises(InputError, match="must name a check that refutes"):
        examine(sealed_of_tied(edited))


def test_a_refutation_without_a_counterexample_is_still_a_finding():
    record = load("dp-linear-printed")
    assert [each.code for each in findings(Record.of({**record, "counterexamples": []}))].count("DP100") == 1
    assert "DP100" not in [
        each.code for each in findings(Record.of({**load("dp-se"), "verdict": "inconclusive"}))
    ]


def test_a_rendering_that_cannot_show_a_record_says_so_in_a_line(monkeypatch):
    def broken(record):
        raise KeyError("sizes")

    monkeypatch.setattr("verifiable_dp.render.junit.to_junit", broken)
    with pytest.raises(InputError, match="cannot be shown as junit"):
        renderings.render(REPORTS_of_tied / "dp-se" / "record.json", "junit")


def test_a_power_by_samples_is_that_of_its_variants():
    """Control: as it is, it is."""
    record = load("dp-nas")
    examine(record)
    record["power"]["smallest_epsilon"] /= 2
    record.pop("digest")
    with pytest.raises(InputError, match=r"power must agree with power\.black_box"):
        examine(sealed_of_tied(record))


NEEDED = ["no-state", "other-paths", "as-traced", "ideal-noise-of-code", "runs-alone"]


@pytest.mark.parametrize("missing", NEEDED)
def test_a_traced_bound_names_what_it_rests_on(missing):
    """Control: with all of them it is founded."""
    numbers = {"method": "tracing", "scope": "n paths", "certificate": {"form": "paths", "calls": [1]}}
    stated = [{"id": name, "values": {}, "tested_by": ""} for name in NEEDED]
    assert upper.unfounded({**numbers, "premises": stated}) == ""
    fewer = [premise for premise in stated if premise["id"] != missing]
    assert "premises must contain" in upper.unfounded({**numbers, "premises": fewer})


def test_a_record_of_earlier_may_leave_open_what_a_check_settles():
    """Though what it says of that is what the check says."""
    record = load("dp-se")
    said = words.not_covered(Record.of(record))
    for left in record["not_covered"]:
        left["settled_by"] = None
    record.pop("digest")
    older = sealed_of_tied(record)
    examine(older)
    assert words.not_covered(Record.of(older)) == said
