"""The committed reports hold, and say what the README says of the catalogue."""

import functools
import html
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.committed import each
from verifiable_dp.campaign import papers
from verifiable_dp.campaign.claim_index import claims
from verifiable_dp.campaign.run import folder_of
from verifiable_dp.evidence import check as checking
from verifiable_dp.evidence.check import Check, Column, Kind, kind_of
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import SCHEMAS, schema
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.errata import registered
from verifiable_dp.render import page, sidecars
from verifiable_dp.render.errata import verify_errata
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import to_markdown
from verifiable_dp.render.page import render, render_errata, render_papers
from verifiable_dp.render.site import HEAVIEST
from verifiable_dp.render.study import pages, surprising, verify_study
from verifiable_dp.report import Report

REPORTS = Path(__file__).parents[2] / "reports"
NAMES = registry.every()
PRIVATE = [name for name in NAMES if registry.auditor(name).reference_epsilon is None]
PRINTED = [folder_of(name, True) for name in NAMES if registry.auditor(name).printed]


def record_of(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


PLOT = re.compile(r"<svg.*?</svg>", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")


def alike(page, other):
    """Whether two pages are the same, but for what versions of the library for plots change: last digits."""
    texts, plots = zip(
        *((PLOT.sub("", one), "".join(PLOT.findall(one))) for one in (page, other)), strict=True
    )
    places = [np.array([*map(float, NUMBER.findall(one))]) for one in plots]
    same = texts[0] == texts[1] and NUMBER.sub("", plots[0]) == NUMBER.sub("", plots[1])
    return same and np.allclose(*places, rtol=0, atol=0.05)


def test_a_plot_that_differs_is_noticed():
    page = 'words <svg><path d="M 1.0 2.5"/></svg>'
    assert alike(page, page.replace("2.5", "2.52"))
    others = page.replace("2.5", "2.6"), page.replace("M", "L"), page.replace("words", "other words")
    assert not any(alike(page, other) for other in others)


def test_there_is_one_for_every_algorithm():
    found = {path.parent.name for path in REPORTS.glob("*/record.json")}
    assert found == {*NAMES, *PRINTED}
    index = (REPORTS / "index.html").read_text("utf-8")
    for name in found:
        assert f'href="{name}/record.html"' in index
    for name in SCHEMAS:
        assert json.loads((REPORTS / "schema" / f"{name}.json").read_text("utf-8")) == schema(name)


def found_at(name):
    return REPORTS / name / "record.json"


@functools.cache
def kill_table():
    return json.loads((REPORTS / "mutants.json").read_text("utf-8"))


@pytest.mark.parametrize("name", each([*NAMES, *PRINTED]))
def test_it_holds_and_its_page_is_its_rendering(name):
    found = verify(REPORTS / name / "record.json")
    assert found.checks
    page = (REPORTS / name / "record.html").read_text("utf-8")
    around = sidecars.of(found_at(name), Record.of(found.record), found_at(name).with_suffix(".html"))
    assert alike(page, render(Record.of(found.record), around=around))


@pytest.mark.parametrize("name", PRIVATE)
def test_private_algorithms_are_not_refuted_with_power_and_mutants_are(name):
    record = record_of(name)
    assert record["verdict"] == "not_refuted"
    assert record["power"]["smallest_epsilon"] > record["claim"]["epsilon"]
    assert len(record["mutants"]) >= 6
    assert {m["verdict"] for m in record["mutants"]} <= {"refuted", "contradicted"}
    assert record["regret"]["verdict"] == "consistent"


@pytest.mark.parametrize("name", NAMES)
def test_a_record_has_the_broken_variants_of_its_auditor_and_what_is_wrong_with_them(name):
    made = {(mutant.name, mutant.fault) for mutant in registry.auditor(name).mutants}
    assert {(row["name"], row["fault"]) for row in record_of(name)["mutants"]} == made != set()


@pytest.mark.parametrize("name", PRINTED)
def test_printed_listings_come_out_as_their_auditors_expect(name):
    record = record_of(name)
    expected = registry.auditor(record["target"]["name"]).printed.expected
    assert record["verdict"] == expected
    assert record["target"]["parameters"]["variant"] == "printed"
    assert bool(record["counterexamples"]) == (expected == "refuted")


def test_the_page_of_the_papers_is_that_of_the_reports():
    """But for line numbers, which any edit of the code moves."""
    pages = [(REPORTS / "papers.html").read_text("utf-8"), render_papers(papers.rows(REPORTS))]
    page, again = (re.sub(r"(\.(?:<wbr/>)?py):(?:<wbr/>)?\d+", r"\1", text) for text in pages)
    assert page == again
    assert 'href="papers.html"' in (REPORTS / "index.html").read_text("utf-8")


def test_all_errata_are_there_and_confirmed():
    whole = verify_errata(REPORTS / "errata.json")
    assert [row["name"] for row in whole["errata"]] == [row.name for row in registered()]
    assert {row["outcome"] for row in whole["errata"]} == {"confirmed", "by_reading"}
    assert (REPORTS / "errata.html").read_text("utf-8") == render_errata(whole)
    assert 'href="errata.html"' in (REPORTS / "index.html").read_text("utf-8")


def test_every_claim_has_a_verdict_or_says_that_it_is_not_checked():
    rows = claims(REPORTS)
    assert {row["algorithm"] for row in rows} == set(NAMES)
    notes = {f"{n}/{c.name}": c.source.note for n in NAMES for c in registry.auditor(n).claims}
    slips = {row.name for row in registered()}
    for row in rows:
        assert row["source"]
        assert row["verdict"] not in ("no check", "no record"), row
        if row["claim"] == "privacy":
            continue
        if row["verdict"] == "not checked":
            assert "not checked" in notes[f"{row['algorithm']}/{row['claim']}"]
        elif row["verdict"].startswith("contradicted"):
            assert row["verdict"].removeprefix("contradicted, erratum ") in slips, row
        else:  # one check at least decides: not all of them are vacuous or undecided
            assert "consistent" in row["verdict"], row
            assert "contradicted" not in row["verdict"], row


def test_worse_algorithms_and_what_caught_them_are_in_the_report():
    """Each with the check that contradicted it."""
    named = [("dp-se", "epsilon/K per arm"), ("ucb1", "doubled bonus")]
    named += [(name, "half threshold") for name in ("dp-se", "se")]
    for name, variant in named:
        (found,) = (m for m in record_of(name)["mutants"] if m["name"] == variant)
        assert found["verdict"] == "contradicted"
        assert found["decided_by"]


def test_lower_bounds_and_prices_of_privacy_are_in_the_records():
    tables = {name: record_of(name)["regret"].get("tables", []) for name in NAMES}
    kinds = {name: {t["kind"] for t in found} for name, found in tables.items()}
    for name in ("dp-robust-se", "ldp-robust-se", "dp-exponential-nas", "dp-robust-elimination"):
        assert "floors" in kinds[name]
    priced = (
        "dp-se",
        "dp-ucb",
        "dp-robust-se",
        "ldp-robust-se",
        "dp-linear",
        "ldp-linear",
        "shuffled-linear",
    )
    for name in priced:
        assert "price" in kinds[name]
    for found in tables.values():
        for table in found:
            if table["kind"] == "floors":
                assert {row["verdict"] for row in table["result"]["rows"]} == {"consistent"}


def test_the_reports_are_small():
    made = {"cells", "figures", "tables"}  # by whoever reproduces; not committed
    kept = [path for path in REPORTS.rglob("*") if path.is_file() and not made & {*path.parts}]
    assert sum(path.stat().st_size for path in kept) < 19e6


def test_the_comparison_of_the_paper_is_in_the_record():
    """DP-SE on C1 to C4 at T = 5e7, 30 runs, beside its bound and beside DP-UCB."""
    checks = record_of("dp-se")["regret"]["checks"]
    versus = [c for c in checks if c["kind"] == "comparison"]
    assert {c["statistics"]["instance"] for c in versus} >= {"C1", "C2", "C3", "C4"}
    for check in versus:
        numbers = check["statistics"]
        assert numbers["horizon"] == 50_000_000
        assert numbers["n_a"] >= 30
        assert numbers["factor"] == 5
        assert check["result"]["verdict"] == "consistent"
        assert check["result"]["ratio"] > 5
    bounds = [c for c in checks if c["kind"] == "mean_bound" and c["statistics"]["horizon"] == 50_000_000]
    assert len(bounds) >= 4


@pytest.mark.parametrize("name", studies.names())
def test_studies_are_at_full_size_and_hold(name):
    whole = verify_study(REPORTS / "studies" / name / "study.json")
    assert whole["scale"] == 1
    assert not surprising(whole)
    folder = REPORTS / "studies" / name
    page = (folder / "index.html").read_text("utf-8")
    for place, made in itertools.islice(pages(whole), 2 if name in ("S1", "S4") else 1):  # one is drawn
        assert alike((folder / place).read_text("utf-8"), made)
    for place in ["index.html", *re.findall(r'<a href="([^"#]*\.html)"', page)]:
        assert (folder / place).stat().st_size < HEAVIEST
    assert len(list(folder.glob("*.html"))) == 1 + len(whole["figures"])
    assert f'href="studies/{name}/index.html"' in (REPORTS / "index.html").read_text("utf-8")


def test_the_studies_have_every_figure_of_their_papers():
    """S1: 1 to 12; S2: 1 to 4; S4: 2, 3a, 3b and 4."""
    numbers = {"S1": range(1, 13), "S2": range(1, 5), "S4": ("2", "3a", "3b", "4")}
    for name, expected in numbers.items():
        whole = json.loads((REPORTS / "studies" / name / "study.json").read_text("utf-8"))
        assert {f"figure-{number}" for number in expected} <= {f["name"] for f in whole["figures"]}
    assert {cell["runs"] for cell in whole["cells"].values()} == {30}


def test_full_size_means_the_paper_s_size():
    whole = json.loads((REPORTS / "studies" / "S1" / "study.json").read_text("utf-8"))
    cells = [cell for name, cell in whole["cells"].items() if name.startswith("C") and "per-arm" not in name]
    assert {(cell["parameters"]["horizon"], cell["runs"]) for cell in cells} == {(50_000_000, 30)}
    # An independent simulation of DP-SE at K = 5, epsilon = .25 gave these means.
    for setting, mean in {"C1": 12556, "C2": 4830, "C3": 4286, "C4": 10971}.items():
        cell = whole["cells"][f"{setting} K=5 epsilon=0.25 dp-se"]
        assert abs(cell["mean"] - mean) < 0.001 * mean + 5 * cell["sd"] / 30**0.5


def unnamed(record):
    """Checks and tables that a rendering does not name, by rendering; names stand in them as they are."""
    regret = record["regret"] or {}
    checks = [*record["checks"], *regret.get("checks", ()), *regret.get("tables", ())]
    page = render(Record.of(record), drawn=False)
    shown = {
        "html": html.unescape(re.sub(r"</?(?:bdi|span)[^>]*>", "", page)),
        "markdown": to_markdown(Record.of(record)).replace("\\", ""),
        "junit": html.unescape(to_junit(Record.of(record))),
        "terminal": Report(record).summary(),
    }
    absent = {form: [c["name"] for c in checks if c["name"] not in text] for form, text in shown.items()}
    beside = {row["name"] for row in checks if kind_of(row["kind"]).about == "table"}
    absent["junit"] = [name for name in absent["junit"] if name not in beside]  # no case follows from a table
    return {form: names for form, names in absent.items() if names}


@pytest.mark.parametrize("name", each([*NAMES, *PRINTED]))
def test_every_check_has_a_row_in_every_rendering(name):
    assert unnamed(record_of(name)) == {}


def test_a_kind_that_no_template_knows_has_a_row_too(monkeypatch):
    """Control: a page that shows only the first kind of a record."""
    width = Column("Width", lambda numbers, _: numbers["width"])
    made = Kind("spread", "regret", caption="Spread", columns=(width,))
    made.judged_by()(lambda numbers: {"verdict": "consistent" if numbers["width"] < 2 else "contradicted"})
    made.worded_by(lambda numbers, result: f"spread {numbers['width']}, claimed below 2")
    monkeypatch.setitem(checking._KINDS, made.name, made)
    record = record_of("ucb1")
    added = Check.of("spread on all", made.name, {"claim": "x", "width": 1.25})
    record["regret"]["checks"].append(added.as_dict())
    assert unnamed(record) == {}
    assert "spread 1.25, claimed below 2" in render(Record.of(record), drawn=False)
    whole = page._by_kind
    monkeypatch.setattr(page, "_by_kind", lambda checks: whole(checks)[:1])
    page.environment.cache_clear()
    try:
        assert "spread on all" in unnamed(record)["html"]
    finally:
        page.environment.cache_clear()
