"""Counterexamples found on another instance than the audited one say so, and run again from that."""

import copy
import dataclasses
import json

import pytest

import verifiable_dp as vdp
from verifiable_dp.auditing import algorithms
from verifiable_dp.auditing.request import Promise
from verifiable_dp.auditing.subject import subject_of
from verifiable_dp.core.neighbours import pair_of
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment.replay import replay
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import validate, verify
from verifiable_dp.record.words import found_on
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.errata import chosen, examine
from verifiable_dp.registry.wrapped import Prefix
from verifiable_dp.render import markdown, outcomes
from verifiable_dp.render.page import render, render_errata, render_index
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

NAME = "dp-linear"
AUDITOR = registry.auditor(NAME)
ELSEWHERE = ("instance", "epsilon", "rounds")
SAID = "which claims epsilon 20; the loss is 2 times that, so epsilon is at least 2 where 1 is claimed"


@pytest.fixture(scope="module")
def record():
    """As read from its file: a listing as printed, which the search refutes on a small instance."""
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    return json.loads(vdp.audit(algorithm, budget=0.05).to_json())


def run_again(algorithm, found):
    """Cost and loss of the transcript of a counterexample on that algorithm."""
    done = replay(
        algorithm,
        pair_of(found["pair"]),
        seed=found["seed"],
        sign=found["sign"],
        turned=found["turned"],
        runs=found["run"] + 1,
    )
    return float(done.cost[found["run"]]), float(done.loss[found["run"]])


def named(record, check):
    (found,) = [found for found in record["counterexamples"] if found["check"] == check]
    return found


def without_places(record):
    """As written before counterexamples said where they were found."""
    older = copy.deepcopy(record)
    for found in [*older["counterexamples"], *(m["counterexample"] for m in older["mutants"])]:
        for key in ELSEWHERE:
            found.pop(key, None)
    return older


def resealed(record):
    return sealed({key: value for key, value in record.items() if key != "digest"})


def written(record, path):
    path.write_text(json.dumps(record), "utf-8")
    return path


# ---------------------------------------------------------------- from the record alone


def test_a_counterexample_of_the_search_runs_again_from_its_record(record):
    found = named(record, "alignment")
    assert found["instance"] != record["target"]["parameters"]
    assert found["epsilon"] == registry.make(NAME, **found["instance"]).claim.epsilon == 20
    assert run_again(registry.make(NAME, **found["instance"]), found) == pytest.approx(
        (found["cost"], found["loss"]), abs=1e-9
    )
    assert abs(found["loss"]) / found["epsilon"] == pytest.approx(2.0)
    # Another instance pays otherwise: the parameters are what determines the numbers.
    other = run_again(registry.make(NAME, **{**found["instance"], "epsilon": 10.0}), found)
    assert other == pytest.approx((found["cost"] / 2, found["loss"] / 2))


def test_those_of_mutants_run_again_from_the_record(record):
    makers = {mutant.name: mutant.make for mutant in AUDITOR.mutants}
    seen = 0
    for mutant in record["mutants"]:
        found = mutant["counterexample"]
        if not found or found["divergence"]:
            continue
        algorithm = registry.make(NAME, **found["instance"])
        again = run_again(makers[mutant["name"]](algorithm), found)
        assert again == pytest.approx((found["cost"], found["loss"]), abs=1e-9)
        if found["cost"] > 40:  # the unbroken one, as printed, costs twice its claim at most
            assert run_again(algorithm, found)[0] < found["cost"] * 0.9
            seen += 1
    assert seen >= 2


def test_what_was_found_on_the_audited_instance_names_no_other(record):
    box = named(record, "black box")
    assert not set(box) & set(ELSEWHERE)
    assert found_on(Counterexample.of(box), Record.of(record)) == ""
    found = named(record, "alignment")
    assert (
        found_on(
            Counterexample.of({**found, "instance": record["target"]["parameters"], "epsilon": 1.0}),
            Record.of(record),
        )
        == ""
    )


# ---------------------------------------------------------------- said everywhere


def test_every_rendering_says_where_it_was_found(record):
    shown = {
        "page": render(Record.of(record), drawn=False),
        "Markdown": markdown.to_markdown(Record.of(record)),
        "SARIF": to_sarif(Record.of(record)),
        "summary": Report(record).summary(),
        "tests": "\n".join(line for one in outcomes.outcomes(Record.of(record)) for line in one.details),
    }
    for face, words in shown.items():
        assert SAID in words, face
        assert "found on a small instance" in words, face
        assert "horizon = 400" in words, face
        assert "cost 40, loss -40" in words, face
    page = shown["page"]
    of_mutants = sum(bool(mutant["counterexample"]) for mutant in record["mutants"])
    assert page.count("found on a small instance") == 1 + of_mutants > 5
    # A loss without bound is not a multiple of the claim.
    assert "which claims epsilon 20</p>" in page


def test_older_records_are_read_and_shown_as_they_were(record, tmp_path):
    older = resealed(without_places(record))
    assert verify(written(older, tmp_path / "r.json")).checks > 2
    for shown in (
        render(Record.of(older), drawn=False),
        markdown.to_markdown(Record.of(older)),
        to_sarif(Record.of(older)),
    ):
        assert "small instance" not in shown
        assert "cost 40, loss -40" in shown


def test_the_schema_knows_the_instance_and_nothing_else(record):
    validate(record)
    found = named(record, "alignment")
    for key, value in {"epsilon": -1.0, "rounds": 0, "instanze": {}}.items():
        edited = copy.deepcopy(record)
        edited["counterexamples"][record["counterexamples"].index(found)][key] = value
        with pytest.raises(InputError, match="counterexamples"):
            validate(edited)
    both = {**named(record, "black box"), "delta_lower": 0.5}
    with pytest.raises(InputError, match="counterexamples"):
        validate({**record, "counterexamples": [both]})


# ---------------------------------------------------------------- the first rounds only


@pytest.fixture(scope="module")
def long():
    """A subject of which an audit plays the first 500 rounds."""
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    return subject_of(algorithm, dataclasses.replace(AUDITOR, longest=500), Promise())


def test_a_transcript_of_the_first_rounds_says_how_many(long, record):
    assert isinstance(long.algorithm, Prefix)
    _, found = algorithms._align(long, 0, 0, long.instances)
    worst = json.loads(json.dumps(found.worst))
    assert worst["rounds"] == 500
    assert worst["instance"] == record["target"]["parameters"]
    again = Prefix(registry.make(NAME, **worst["instance"]), worst["rounds"])
    assert run_again(again, worst) == pytest.approx((worst["cost"], worst["loss"]), abs=1e-9)
    # As many rounds as decide nothing cost nothing.
    assert run_again(Prefix(again.inner, 1), worst)[0] < worst["cost"]
    assert (
        found_on(Counterexample.of(worst), Record.of(record))
        == "found on the first 500 rounds of the audited instance"
    )
    validate({**record, "counterexamples": [{"check": "alignment", **worst}]})


def test_so_does_what_the_other_checks_find(monkeypatch, record):
    auditor = dataclasses.replace(AUDITOR, longest=500)
    monkeypatch.setattr(registry, "find", lambda algorithm: auditor)
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    cut = vdp.audit(algorithm, budget=0.05, mutants=False).record
    box = named(cut, "black box")
    horizon = algorithm.horizon
    left = {"id": "later-rounds", "values": {"played": 500, "horizon": horizon}, "settled_by": None}
    assert left in cut["not_covered"]
    assert box["rounds"] == 500 == sum(repeats for repeats, _ in box["pair"]["rows"])
    assert box["instance"] == cut["target"]["parameters"]
    assert named(cut, "alignment")["instance"]["horizon"] == 400
    assert "rounds" not in named(cut, "alignment")
    validate(cut)


# ---------------------------------------------------------------- re-runs of older records


def test_a_rerun_by_a_later_version_compares_numbers_not_words(record, tmp_path):
    older = without_places(record)
    older["provenance"]["code"] = "0" * 64
    for found in older["counterexamples"]:
        found["pair"]["words"] = "round 1, arm 0: reward -1 against 1"
    path = written(resealed(older), tmp_path / "r.json")
    assert verify(path, rerun=lambda _: record).rerun
    (box,) = [check for check in older["checks"] if check["kind"] == "black_box"]
    changed = copy.deepcopy(record)
    for check in changed["checks"]:
        if check["kind"] == box["kind"]:
            check["statistics"]["k0"] += 1
    with pytest.raises(InputError, match="k0"):
        verify(path, rerun=lambda _: changed)


def test_one_by_the_same_version_compares_all(record, tmp_path):
    edited = copy.deepcopy(record)
    named(edited, "alignment")["pair"]["words"] = "round 1, arm 0: reward -1 against 1"
    path = written(resealed(edited), tmp_path / "r.json")
    with pytest.raises(InputError, match=r"counterexamples.*words"):
        verify(path, rerun=lambda _: record)
    for key in ("instance", "epsilon"):
        edited = copy.deepcopy(record)
        del named(edited, "alignment")[key]
        path = written(resealed(edited), tmp_path / "r.json")
        with pytest.raises(InputError, match=rf"counterexamples.*{key} is missing"):
            verify(path, rerun=lambda _: record)


# ---------------------------------------------------------------- names


def test_a_listing_as_printed_is_named_apart(record):
    right = json.loads(json.dumps(record))
    right["target"]["role"] = "promise"
    assert "<h1><bdi>dp-linear as printed</bdi></h1>" in render(Record.of(record), drawn=False)
    assert "<title>dp-linear as printed: audit record</title>" in render(Record.of(record), drawn=False)
    assert markdown.to_markdown(Record.of(record)).startswith("# dp-linear as printed: audit record\n")
    assert "dp-linear as printed: The claim of epsilon 1 is refuted: epsilon is at least 2. " in to_sarif(
        Record.of(record)
    )
    assert "<h1><bdi>dp-linear</bdi></h1>" in render(Record.of(right), drawn=False)
    assert markdown.to_markdown(Record.of(right)).startswith("# dp-linear: audit record\n")


def test_so_is_its_row_on_the_page_over_many(record):
    right = json.loads(json.dumps(record))
    right["target"]["role"] = "promise"
    page = render_index([Record.of(record), Record.of(right)], ["printed.html", "right.html"])
    assert '<a href="printed.html"><bdi>dp-linear as printed</bdi></a>' in page
    assert '<a href="right.html"><bdi>dp-linear</bdi></a>' in page


@pytest.mark.slow
def test_that_of_an_erratum_runs_again_from_its_row():
    row = json.loads(json.dumps(examine(chosen(["tree-mechanism"])[0])))
    found = row["counterexample"]
    algorithm = registry.make("adaptive-tree", **found["instance"])
    assert run_again(algorithm, found) == pytest.approx((found["cost"], found["loss"]), abs=1e-9)
    right = registry.make("adaptive-tree", **{**found["instance"], "variant": "corrected"})
    assert run_again(right, found)[0] <= found["epsilon"] * (1 + 1e-9) < found["cost"]
    assert found_on(Counterexample.of(found), None).startswith(
        "found on a small instance (epsilon = 1.0, horizon = 16, "
    )
    assert "variant = printed), which claims epsilon 1</p>" in render_errata({"errata": [row]})
