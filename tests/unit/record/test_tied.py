"""What a record says twice must agree: each edit is sealed anew and refused for that alone."""

import copy
import json

import pytest

from tests.committed import REPORTS
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import upper
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import examine
from verifiable_dp.render import renderings
from verifiable_dp.render.findings import findings


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


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


EDITS = [
    (premise_left_out, "premises must hold post-processing for the method"),
    (premise_that_nothing_tests, "post-processing must name the check that tests it"),
    (scope_of_another_method, "scope must be one of every path, n paths for the method tracing"),
    (two_checks_of_one_name, "names of their own"),
    (power_below_the_claim, "power must be that of alignment"),
    (power_of_no_run, "power must be that of alignment"),
    (power_of_no_variant, "a variant that was tried"),
    (claim_is_smaller, "must be (that of the claim|0.5)"),
    (bound_at_another_delta, "delta"),
    (all_settled, "settled_by must be"),
    (exclusion_without_its_values, "nothing can be concluded|does not fit"),
    (premise_without_its_values, "nothing can be concluded|does not fit|cannot be judged"),
]


@pytest.mark.parametrize(("edit", "why"), EDITS, ids=[edit.__name__ for edit, _ in EDITS])
def test_what_does_not_agree_is_refused(edit, why):
    """Negative control: the record as it is."""
    record = load("dp-se")
    examine(record)
    edit(record)
    record.pop("digest")
    with pytest.raises(InputError, match=why):
        examine(sealed(record))


def test_a_counterexample_names_a_check_that_refutes():
    """Control: as it is, it does."""
    record = load("dp-linear-printed")
    examine(record)
    passing = next(c["name"] for c in record["checks"] if c["result"]["verdict"] != "refuted")
    edited = copy.deepcopy(record)
    edited["counterexamples"][0]["check"] = passing
    edited.pop("digest")
    with pytest.raises(InputError, match="must name a check that refutes"):
        examine(sealed(edited))


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
        renderings.render(REPORTS / "dp-se" / "record.json", "junit")


def test_a_power_by_samples_is_that_of_its_variants():
    """Control: as it is, it is."""
    record = load("dp-nas")
    examine(record)
    record["power"]["smallest_epsilon"] /= 2
    record.pop("digest")
    with pytest.raises(InputError, match=r"power must be that of power\.black_box"):
        examine(sealed(record))


NEEDED = ["no-state", "other-paths", "as-traced", "ideal-noise-of-code", "runs-alone"]


@pytest.mark.parametrize("missing", NEEDED)
def test_a_traced_bound_names_what_it_rests_on(missing):
    """Control: with all of them it is founded."""
    numbers = {"method": "tracing", "scope": "n paths", "certificate": {"form": "paths", "calls": [1]}}
    stated = [{"id": name, "values": {}, "tested_by": ""} for name in NEEDED]
    assert upper.unfounded({**numbers, "premises": stated}) == ""
    fewer = [premise for premise in stated if premise["id"] != missing]
    assert "premises must hold" in upper.unfounded({**numbers, "premises": fewer})


def test_a_record_of_earlier_may_leave_open_what_a_check_settles():
    """Though what it says of that is what the check says."""
    record = load("dp-se")
    said = words.not_covered(Record.of(record))
    for left in record["not_covered"]:
        left["settled_by"] = None
    record.pop("digest")
    older = sealed(record)
    examine(older)
    assert words.not_covered(Record.of(older)) == said
