"""Differences of two records: what is worse, what cannot be compared, and what is only provenance."""

import copy
import json
import math
from pathlib import Path

import pytest

from verifiable_dp.evidence import exclusions
from verifiable_dp.record.model import Record
from verifiable_dp.render.diff import compare
from verifiable_dp.report import finish

REPORTS = Path(__file__).parents[3] / "reports"


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


@pytest.fixture
def record():
    return load("dp-se")


def changed(record, **values):
    """The record with values at paths such as ``claim__epsilon``."""
    found = copy.deepcopy(record)
    for path, value in values.items():
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("__"))
        place = found
        for part in parents:
            place = place[part]
        place[last] = value
    return found


def by_what(difference):
    return {change.what: (change.old, change.new, change.direction) for change in difference.changes}


def test_a_record_beside_itself(record):
    found = compare(Record.of(record), Record.of(record))
    assert found.outcome == "same"
    assert found.same_evidence
    assert found.changes == found.provenance == found.not_comparable == ()
    assert "nothing differs" in found.lines()[-1]


def test_only_provenance_differs(record):
    later = changed(
        record,
        provenance__packages__numpy="9.9",
        provenance__commit="0" * 40,
        provenance__started="2027-01-01T00:00:00Z",
        digest="sha256:" + "0" * 64,
    )
    found = compare(Record.of(record), Record.of(later))
    assert found.outcome == "same"
    assert found.same_evidence
    assert found.changes == ()
    assert {change.what for change in found.provenance} == {"packages.numpy", "commit", "started"}
    assert "  only provenance differs" in found.lines()


VERDICTS = ("refuted", "inconclusive", "not_refuted")


@pytest.mark.parametrize("old", VERDICTS)
@pytest.mark.parametrize("new", VERDICTS)
def test_verdicts_are_ordered(record, old, new):
    found = compare(Record.of(changed(record, verdict=old)), Record.of(changed(record, verdict=new)))
    difference = VERDICTS.index(new) - VERDICTS.index(old)
    assert found.outcome == ("worse" if difference < 0 else "better" if difference else "same")


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("consistent", "contradicted", "worse"),
        ("consistent", "vacuous", "worse"),
        ("consistent", "inconclusive", "worse"),
        ("vacuous", "inconclusive", "same"),
        ("vacuous", "contradicted", "worse"),
        ("contradicted", "consistent", "better"),
    ],
)
def test_regret_verdicts_are_ordered(record, old, new, outcome):
    before, after = (changed(record, regret__verdict=verdict) for verdict in (old, new))
    assert compare(Record.of(before), Record.of(after)).outcome == outcome


def test_a_refuted_record_after_a_right_one():
    found = compare(Record.of(load("dp-linear")), Record.of(load("dp-linear-printed")))
    assert found.outcome == "worse"
    rows = by_what(found)
    assert rows["verdict"] == ("not_refuted", "refuted", "worse")
    assert rows["regret.verdict"] == ("consistent", "not_checked", "worse")
    assert rows["checks.alignment"] == ("not_refuted", "refuted", "worse")
    assert rows["checks.interactive alignment"] == ("not_refuted", None, "worse")
    assert rows["epsilon_lower"][2] == "neutral"
    assert "target.parameters.variant" in rows
    assert compare(Record.of(load("dp-linear-printed")), Record.of(load("dp-linear"))).outcome == "better"
    lines = found.lines()
    assert lines[1].startswith("  worse: verdict: not_refuted -> refuted")
    assert json.loads(json.dumps(found.as_dict()))["outcome"] == "worse"


def test_a_weaker_promise_is_worse(record):
    weaker = changed(record, claim__epsilon=2.0)
    assert by_what(compare(Record.of(record), Record.of(weaker)))["claim.epsilon"] == (1.0, 2.0, "worse")
    assert compare(Record.of(weaker), Record.of(record)).outcome == "better"
    gone = changed(record, claim=None)
    assert compare(Record.of(record), Record.of(gone)).outcome == "worse"
    assert compare(Record.of(gone), Record.of(record)).outcome == "not_comparable"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"claim__delta": 1e-6}, "measures differ"),
        ({"claim__rho": 0.5, "claim__delta": 1e-6}, "measures differ"),
        ({"claim__unit": "user"}, "different unit"),
        ({"claim__adjacency": "add-remove"}, "different adjacency"),
        ({"claim__relation": {"kind": "group", "size": 2}}, "different relation"),
    ],
)
def test_guarantees_of_other_kinds_are_not_compared(record, values, words):
    other = changed(record, epsilon_lower=0.5, power__smallest_epsilon=1.5, **values)
    for old, new in ((record, other), (other, record)):
        found = compare(Record.of(old), Record.of(new))
        assert found.outcome == "not_comparable"
        assert any(words in reason and "NIST SP 800-226" in reason for reason in found.not_comparable)
        assert not {what for what in by_what(found) if what.startswith(("epsilon_lower", "power"))}
        assert any("not comparable" in line for line in found.lines())
    refuted = compare(Record.of(record), Record.of(changed(other, verdict="refuted")))
    assert refuted.outcome == "not_comparable"  # of another promise
    assert by_what(refuted)["verdict"] == ("not_refuted", "refuted", "neutral")
    assert (
        compare(Record.of(record), Record.of(changed(other, regret__verdict="contradicted"))).outcome
        == "worse"
    )


def test_deltas_that_differ_are_not_compared(record):
    old, new = (changed(record, claim__delta=delta) for delta in (1e-6, 1e-5))
    found = compare(Record.of(old), Record.of(new))
    assert found.outcome == "not_comparable"
    assert "different delta" in found.not_comparable[0]
    assert by_what(found)["claim.delta"] == (1e-6, 1e-5, "neutral")
    assert compare(Record.of(old), Record.of(old)).outcome == "same"


def test_numbers_alone_decide_nothing(record):
    found = compare(
        Record.of(record), Record.of(changed(record, epsilon_lower=0.25, power__smallest_epsilon=1.5, seed=7))
    )
    assert found.outcome == "same"
    rows = by_what(found)
    assert rows["epsilon_lower"][1:] == (0.25, "neutral")
    assert rows["power.smallest_epsilon"][1:] == (1.5, "neutral")
    assert rows["seed"] == (0, 7, "neutral")
    assert not found.same_evidence


def test_numbers_that_round_to_the_same_are_told_apart(record):
    before = record["epsilon_lower"]
    after = math.nextafter(before, 0)
    found = compare(Record.of(record), Record.of(changed(record, epsilon_lower=after)))
    (line,) = (change.line() for change in found.changes)
    assert line == f"epsilon_lower: {before!r} -> {after!r}"


def test_checks_that_come_and_go(record):
    fewer = changed(record, checks=record["checks"][:-1])
    name = f"checks.{record['checks'][-1]['name']}"
    assert by_what(compare(Record.of(record), Record.of(fewer)))[name] == ("not_refuted", None, "worse")
    assert by_what(compare(Record.of(fewer), Record.of(record)))[name] == (None, "not_refuted", "neutral")
    assert compare(Record.of(fewer), Record.of(record)).outcome == "same"
    refuted = changed(record, **{f"checks__{len(record['checks']) - 1}__result__verdict": "refuted"})
    assert by_what(compare(Record.of(fewer), Record.of(refuted)))[name] == (None, "refuted", "worse")
    assert by_what(compare(Record.of(record), Record.of(refuted)))[name] == (
        "not_refuted",
        "refuted",
        "worse",
    )


def test_checks_of_one_name_are_told_apart(record):
    twice = changed(record, checks=[*record["checks"], record["checks"][0]])
    assert f"checks.{record['checks'][0]['name']} #2" in by_what(compare(Record.of(record), Record.of(twice)))


def test_mutants(record):
    missed = changed(record, mutants__0__verdict="not_refuted")
    name = f"mutants.{record['mutants'][0]['name']}"
    assert by_what(compare(Record.of(record), Record.of(missed)))[name] == ("refuted", "not_refuted", "worse")
    assert compare(Record.of(missed), Record.of(record)).outcome == "better"
    none = changed(record, mutants=[])
    assert by_what(compare(Record.of(record), Record.of(none)))["mutants"] == (
        len(record["mutants"]),
        0,
        "neutral",
    )


def test_what_is_not_covered_seed_and_plan(record):
    left = exclusions.Exclusion(exclusions.Left.OTHER_DATA).as_dict()
    other = changed(record, not_covered=[left], plan__interactive__probe=1)
    found = compare(Record.of(record), Record.of(other))
    assert found.outcome == "same"
    told = [(change.old, change.new) for change in found.changes if change.what == "not_covered"]
    gone = [(exclusions.in_words(one["id"], one["values"]), None) for one in record["not_covered"]]
    assert told == [(None, exclusions.in_words(left["id"], left["values"])), *gone]
    assert by_what(found)["plan.interactive.probe"] == (250, 1, "neutral")


def test_a_difference_that_decides_nothing_is_named(record):
    found = compare(Record.of(record), Record.of(changed(record, pairs__0__words="another pair")))
    assert found.outcome == "same"
    assert not found.same_evidence
    assert [change.what.split(" is ")[0] for change in found.changes] == ["pairs.0.words"]


def test_declarations_and_the_hazards_that_follow(record):
    old = finish(record, started=0.0, cpu_seconds=0.0).record
    new = finish(record, started=0.0, cpu_seconds=0.0, declarations={"unprotected_outputs": []}).record
    found = compare(Record.of(old), Record.of(new))
    assert found.outcome == "same"
    assert not found.same_evidence
    rows = by_what(found)
    assert rows["declarations.unprotected_outputs"] == (None, [], "neutral")
    assert rows["hazards.NIST-H08"] == ("open", "declared", "neutral")


def test_another_algorithm(record):
    for name in ("dp-se-doubling", "shuffled-linear", "adaptive-tree-printed", "ucb1"):
        other = load(name)
        for old, new in ((record, other), (other, record)):
            found = compare(Record.of(old), Record.of(new))
            assert found.outcome == "not_comparable"
            assert {change.direction for change in found.changes} == {"neutral"}
            names = [side["target"]["name"] for side in (old, new)]
            assert by_what(found)["target.name"] == (*names, "neutral")
            first, second, *rest = found.lines()
            assert first.endswith(": not comparable")
            assert second == f"  not comparable: they are of different targets: {names[0]} against {names[1]}"
            assert not [line for line in rest if "worse" in line or "weaker" in line or "caught" in line]


def test_the_same_changes_of_one_target_are_worse(record):
    """Control of the above: only the name decides that nothing is compared."""
    other = load("adaptive-tree-printed")
    renamed = changed(other, target__name=record["target"]["name"])
    assert other["verdict"] == "refuted"
    assert compare(Record.of(record), Record.of(renamed)).outcome == "worse"
    assert (
        compare(Record.of(record), Record.of(changed(record, target__name="another"))).outcome
        == "not_comparable"
    )


def test_no_declarations_and_empty_ones_are_the_same(record):
    found = compare(
        Record.of(changed(record, declarations=None)), Record.of(changed(record, declarations={}))
    )
    assert (found.outcome, found.same_evidence, found.changes) == ("same", True, ())


def test_hostile_words_stay_on_their_line(record):
    found = compare(
        Record.of(record),
        Record.of(changed(record, target__note="a\nb\r\n\x1b[2Jworse: verdict" + "x" * 9999)),
    )
    assert any("worse: verdict" in line for line in found.lines())
    assert all(line.isprintable() and len(line) < 500 for line in found.lines())


def test_names_are_printed_as_they_are(record):
    """A name with `_` and one with a blank are two names."""
    old, new = (changed(record, target__name=name) for name in ("my_algo", "my algo"))
    lines = compare(Record.of(old), Record.of(new)).lines()
    assert any("my_algo -> my algo" in line for line in lines), lines
