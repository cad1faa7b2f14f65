"""What a record says twice must agree: each edit is sealed anew and refused for that alone."""

import copy
import json

import pytest

from tests.committed import REPORTS
from verifiable_dp.core.validate import InputError
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


EDITS = [
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
    assert [each.code for each in findings({**record, "counterexamples": []})].count("DP100") == 1
    assert "DP100" not in [each.code for each in findings({**load("dp-se"), "verdict": "inconclusive"})]


def test_a_rendering_that_cannot_show_a_record_says_so_in_a_line(monkeypatch):
    def broken(record):
        raise KeyError("sizes")

    monkeypatch.setattr("verifiable_dp.render.junit.to_junit", broken)
    with pytest.raises(InputError, match="cannot be shown as junit"):
        renderings.render(REPORTS / "dp-se" / "record.json", "junit")
