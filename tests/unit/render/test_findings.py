"""Findings: codes that stay, one section of the docs each, the same in the terminal, SARIF and the page."""

import html
import json
import re
from pathlib import Path

import pytest

from tests.committed import NAMES, REPORTS
from verifiable_dp.record.model import Record
from verifiable_dp.render.findings import RULES, FindingCode, findings, told
from verifiable_dp.render.page import render
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

PAGE = (Path(__file__).parents[3] / "docs" / "findings.md").read_text("utf-8")


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


def section(code):
    return re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:][list(FindingCode).index(code)]


def test_codes_are_what_they_were():
    """Suppressions and dashboards hold on to them: a code may come, none may change."""
    assert {code.name: code.value for code in FindingCode} == {
        "REFUTED": "DP100",
        "RAW_DATA": "DP101",
        "RELEASE_COST": "DP102",
        "UNBOUNDED": "DP201",
        "UNDECIDED": "DP301",
        "WEAK": "DP302",
        "MISSED": "DP303",
        "REGRET": "DP401",
        "HOLE": "DP501",
    }


@pytest.mark.parametrize("code", FindingCode)
def test_every_code_has_its_section(code):
    heading, *text = section(code).splitlines()
    assert heading == code
    whole = " ".join(text)
    assert RULES[code].title.rstrip(".") in whole
    assert f"To do: {RULES[code].advice}." in whole
    assert f"| [{code}](#{code.lower()}) | {RULES[code].severity} |" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_sarif_has_every_finding_but_notes(name):
    record = load(name)
    results = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    told = [each for each in findings(Record.of(record)) if each.severity != "note"]
    assert [r["ruleId"] for r in results] == sorted(each.code for each in told)


def shown_on(page):
    """Severity, code, place and sentence of each finding on a page, as it is read."""
    listed = re.search(r'<section id="findings">.*?</section>', page, re.DOTALL)
    items = re.findall(r"<li>(.*?)</li>", listed[0] if listed else "", re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", "", item)).split()) for item in items]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_finding_to_act_on(name):
    """With its sentence and what to do; a line of code has its place."""
    record = Record.of(load(name))
    expected = {(one.code, one.sentence): one for one in told(record)}.values()
    shown = shown_on(render(record, drawn=False))
    assert len(shown) == len(expected)
    for item, one in zip(shown, expected, strict=True):
        place = f" {one.file}:{one.line}" if one.file else ""
        said = f"{one.sentence.rstrip('.')}. To do: {one.advice}"
        assert item == f"{one.severity} {one.code}{place}: {' '.join(said.split())}"


def test_a_finding_that_is_left_out_would_be_missed():
    """Negative control of the test above."""
    record = Record.of(load("dp-linear-printed"))
    page = render(record, drawn=False)
    assert shown_on(page)
    assert shown_on(re.sub(r"<li><b class=.*?</li>", "", page)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_shows_six_lines_and_nothing_that_unsays_a_refutation(name):
    report = Report(load(name))
    lines = report.brief("r.json").splitlines()
    assert 2 <= len(lines) <= 6
    assert "  record: r.json" in lines
    if report.verdict == "refuted":
        assert not [line for line in lines if "not refuted" in line or "lead, not proof" in line]
        assert [line for line in lines if line.startswith("  counterexample")]
        assert "  again: verifiable-dp verify r.json --rerun" in lines


def undecided(record, **changes):
    return {**record, "verdict": "inconclusive", "reason": "weak", "counterexamples": [], **changes}


def test_where_a_bound_ends_is_a_note_with_its_place_until_the_claim_is_refuted():
    """Negative control: without a reason, and beside a refutation, there is none."""
    ended = {"what": "calls hash", "file": "a.py", "line": 33}
    record = load("dp-se")
    (found,) = [each for each in findings(Record.of({**record, "unbounded": ended})) if each.code == "DP201"]
    assert (found.severity, found.file, found.line) == ("note", "a.py", 33)
    assert found.words() == "note DP201 a.py:33: no upper bound; first obstacle: calls hash"
    assert json.loads(to_sarif(Record.of({**record, "unbounded": ended})))["runs"][0]["results"] == []
    assert not findings(Record.of({**record, "unbounded": None}))
    assert "DP201" not in [
        each.code for each in findings(Record.of({**record, "verdict": "refuted", "unbounded": ended}))
    ]


def test_what_is_undecided_says_so_once():
    lines = Report(undecided(load("dp-se"))).brief().splitlines()
    assert lines[1].startswith("warning DP301 verifiable_dp/algorithms/")
    assert sum("inconclusive about" in line for line in lines) == 1


def test_a_contradicted_theorem_comes_with_its_numbers():
    record = load("dp-se")
    check = next(c for c in record["regret"]["checks"] if "p_value" in c["result"])
    check["result"]["verdict"] = "contradicted"
    (found,) = findings(Record.of(record))
    assert (found.code, found.severity) == ("DP401", "error")
    assert check["name"] in found.sentence


UNFOLLOWED = {"what": "calls hash", "file": "a.py", "line": 33}


def test_a_note_comes_after_what_is_a_warning():
    """Control: where nothing else is found, the note is shown first."""
    record = {**load("dp-robust-elimination"), "unbounded": UNFOLLOWED}
    assert [each.code for each in findings(Record.of(record))] == ["DP302", "DP201"]
    lines = Report(record).brief().splitlines()
    assert [line.split()[1] for line in lines if line.startswith(("warning", "note"))] == ["DP302", "DP201"]
    alone = Report({**load("dp-se"), "unbounded": UNFOLLOWED}).brief().splitlines()
    assert alone[2].startswith("note DP201 a.py:33")


def test_checks_of_regret_never_push_a_refutation_beyond_six_lines():
    record = {**load("dp-linear-printed"), "regret": load("dp-se")["regret"]}
    lines = Report(record).brief("r.json").splitlines()
    assert len(lines) <= 6
    assert lines[-2:] == ["  again: verifiable-dp verify r.json --rerun", "  record: r.json"]


def test_what_has_to_be_known_of_an_open_audit_is_in_sarif():
    record = undecided(load("dp-se"))
    record["target"]["note"] = "we could not measure power: try a larger --budget"
    (result,) = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert result["message"]["text"].endswith("we could not measure power: try a larger --budget")


def test_one_variant_is_one():
    record = load("dp-se")
    own = [mutant for mutant in record["mutants"] if mutant["breaks"] == "regret"]
    own[0]["verdict"] = "not_contradicted"
    (found,) = findings(Record.of(record))
    assert (found.code, found.sentence) == ("DP303", f"1 broken variant missed ({own[0]['name']})")
