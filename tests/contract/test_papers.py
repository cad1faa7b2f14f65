"""The contract of the papers' page: every numbered item of the papers has a row, and no cell is empty."""

import ast
import functools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests import commands, quotations
from tests.quotations import DATA, SHORT, digest, found_in, pattern, texts
from verifiable_dp.algorithms.papers import TAO
from verifiable_dp.campaign import papers
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries, errata, items
from verifiable_dp.registry.errata import Quotation, excerpt, registered
from verifiable_dp.registry.items import Item, located, numbers, stated
from verifiable_dp.render.page import render_papers

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports"
NEEDED = ("Algorithm", "Theorem", "Lemma", "Corollary", "Proposition", "Fact", "Remark", "Figure", "Table")
KEPT = json.loads(DATA.read_text("utf-8"))["items"]
LONG = {short: paper for paper, short in SHORT.items()}


@functools.cache
def rows():
    return papers.rows(REPORTS)


@pytest.mark.parametrize("short", sorted(KEPT))
def test_every_item_of_a_paper_has_a_row(short):
    mine = {row["number"] for row in rows() if row["paper"] == LONG[short]}
    missing = {item for item in KEPT[short] if item.startswith(NEEDED)} - mine
    assert not missing
    assert mine >= {*KEPT[short]}  # NEEDED leaves none of the kinds out that the texts have


def empty(found):
    """Items with an empty cell."""
    cells = ("claim", "says", "check", "verdict")
    return [
        row["number"]
        for row in found
        if not (row["entries"] and row["code"] and row["remark"])
        or not all(entry[cell] for entry in row["entries"] for cell in cells)
    ]


def test_no_cell_is_empty():
    assert empty(rows()) == []
    first, second, third = rows()[:3]
    broken = [{**first, "remark": ""}, {**second, "entries": []}]
    broken.append({**third, "entries": [{**third["entries"][0], "verdict": ""}]})
    assert len(empty(broken)) == 3


def test_code_is_where_the_row_says():
    for row in rows():
        file, line = row["code"].split(":")
        text = (ROOT / file).read_text("utf-8").splitlines()
        assert re.match(r"\s*(@|def |class )", text[int(line) - 1]), row["code"]
    assert located("verifiable_dp.auditors.dp_se:pulls_bound").startswith("verifiable_dp/auditors/dp_se.py:")
    with pytest.raises(InputError, match="no_such"):
        located("verifiable_dp.auditors.dp_se:no_such")


def test_tests_that_are_named_are_there():
    named = {test for item in items.registered() for test in item.tests}
    assert len(named) > 8
    for test in named:
        file, function = test.split("::")
        body = ast.parse((ROOT / file).read_text("utf-8")).body
        assert function in {node.name for node in body if isinstance(node, ast.FunctionDef)}, test


def test_every_claim_of_the_four_papers_is_on_the_page():
    """A claim whose source has no number that a row knows would be lost."""
    shown = {entry["claim"] for row in rows() for entry in row["entries"]}
    claims = [
        (f"{name}/{claim.name}", claim.source)
        for name in entries.names()
        for claim in entries.auditor(name).claims
        if entries.auditor(name).paper == claim.source.paper in SHORT
    ]
    assert len(claims) > 40
    for name, source in claims:
        assert name in shown or not numbers(source.statement), name


def test_what_is_ours_says_so_and_joins_only_its_own_item():
    """A rate that we measure is not what the paper's theorem says, nor what a remark on the theorem says."""
    rates = [(row, entry) for row in rows() for entry in row["entries"] if "/rate-" in entry["claim"]]
    assert len(rates) > 40
    for row, entry in rates:
        assert entry["says"].startswith("Our own claim, related to "), entry
        assert "measure" in entry["says"], entry
        assert row["number"] in numbers(entry["says"].split(": ")[0]), (row["number"], entry)
    shown = {(SHORT[row["paper"]], row["number"]): {e["claim"] for e in row["entries"]} for row in rows()}
    assert shown["S4", "Remark 2"] == {"dp-linear/theorem-1"}  # no rate or number of ours, no promise
    assert not [claim for claim in shown["S1", "Algorithm 1"] if "dp-ucb" in claim]  # another paper's
    assert "dp-se-doubling/privacy" not in shown["S1", "Theorem 4.3"]  # whose proof has a remark on restarts
    says = {entry["claim"]: entry["says"] for row in rows() for entry in row["entries"]}
    assert says["dp-se-doubling/privacy"].startswith(
        "Our own claim, related to Theorem 4.1"
    )  # it has no restarts
    assert says["dp-se/privacy"].startswith("as audited, epsilon = ")
    assert says["erratum bonus-step"].endswith(" Note: the end of (16), which the proof uses, still follows.")
    [lemma] = [e for row in rows() for e in row["entries"] if e["claim"] == "dp-robust-se/theorem-4"][:1]
    assert "Where: epsilon <= 1; the rate also needs gaps of at most 1" in lemma["says"]


def of(row):
    """The item's entry of each erratum, by name."""
    return {
        entry["claim"].removeprefix("erratum "): entry["verdict"]
        for entry in row["entries"]
        if entry["claim"].startswith("erratum ")
    }


def test_an_item_has_the_status_that_its_errata_give_it():
    """False as printed where the erratum is confirmed: "confirmed" would be read of the item."""
    outcomes = {
        row["name"]: row["outcome"] for row in json.loads((REPORTS / "errata.json").read_text())["errata"]
    }
    shown = {}
    for row in rows():
        assert not {"confirmed", "by reading"} & {entry["verdict"] for entry in row["entries"]}, row["number"]
        for name, verdict in of(row).items():
            shown.setdefault(name, {})[row["number"]] = verdict
    for erratum in errata.registered():
        words = errata.REGISTERS[erratum.register].lower()
        known = outcomes.get(erratum.name)
        for number, verdict in shown.get(erratum.name, {}).items():
            whole = number in stated(erratum.source.statement)
            expected = (words if whole else f"{words} ({erratum.source.statement})") if known else "no record"
            assert verdict == expected, (erratum.name, number)
    assert shown["fact-2.1"] == {"Fact 2.1": "false as printed"}
    assert shown["laplace-tail-far"]["Lemma 4"] == "false as printed"
    assert shown["laplace-tail-far"]["Lemma 3"] == "false as printed (Lemma 4, second case)"
    assert shown["local-rate"]["Lemma 13"] == "false as printed"  # the rate stands in the lemma itself
    assert shown["local-sum"]["Lemma 13"] == "false as printed (proofs of Theorem 7 and Lemma 13)"


def test_an_erratum_that_is_not_confirmed_accuses_nothing(tmp_path):
    whole = json.loads((REPORTS / "errata.json").read_text("utf-8"))
    for row in whole["errata"]:
        row["outcome"] = "not_confirmed"
    (tmp_path / "errata.json").write_text(json.dumps(whole), "utf-8")
    verdicts = {verdict for row in papers.rows(tmp_path) for verdict in of(row).values()}
    assert verdicts <= {"one of its errata is not confirmed", "no record"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Theorem 7 (10), corrected", {"Theorem 7"}),
        ("proof of Lemma 5, (38)", set()),
        ("remark in the proof of Theorem 4.3", set()),
        ("Section 1, against Theorem 3", {"Section 1"}),
        ("Algorithm 1, Theorem 1", {"Algorithm 1", "Theorem 1"}),
    ],
)
def test_what_a_source_is_about_itself(text, found):
    assert stated(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Theorem 7 (10), corrected", {"Theorem 7"}),
        ("Lemmas 3 and 5, (21)", {"Lemma 3", "Lemma 5"}),
        ("Algorithms 1 to 3", {"Algorithm 1", "Algorithm 2", "Algorithm 3"}),
        ("Theorems 4.3 and 4.4", {"Theorem 4.3", "Theorem 4.4"}),
        ("Remarks 3 and 4, Table 1", {"Remark 3", "Remark 4", "Table 1"}),
        ("proof of Theorem 2", {"Theorem 2"}),
        ("equation (10)", set()),
    ],
)
def test_numbers_in_a_source(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    "about",
    [
        {"number": "Theorem"},
        {"number": "Theorems 1 and 2"},
        {"remark": ""},
        {"code": "verifiable_dp.auditors.dp_se"},
        {"tests": ("tests/test_x.py",), "says": "x"},
        {"tests": ("tests/test_x.py::test",)},
    ],
)
def test_an_item_that_lacks_something_is_refused(about):
    whole = {"paper": "p", "number": "Theorem 1", "code": "m:n", "remark": "As printed."}
    Item(**whole)
    with pytest.raises(InputError, match="item"):
        Item(**{**whole, **about})


def test_the_list_and_its_page(tmp_path):
    done = commands.run(tmp_path, "list", "--papers", "--reports", str(REPORTS), "--html", "papers.html")
    assert done.exit_code == 0
    assert "Sajed & Sheffet, Theorem 4.3: verifiable_dp/auditors/dp_se.py:" in done.stdout
    assert "dp-se/lemma-4.2: 3 consistent (lemma-4.2 pulls" in done.stdout
    page = (tmp_path / "papers.html").read_text("utf-8")
    assert page == render_papers(rows())
    assert len(re.findall(r'<section id="paper-\d+">', page)) == len(SHORT)
    items = re.findall(r'<details class="item"><summary><b>(.*?)</b>', page)
    assert items == [row["number"] for row in rows()]  # folded: open, they were 78,000 pixels on a phone
    counts = [int(count) for count in re.findall(r"<summary>(\d+) items</summary>", page)]
    assert counts == list(Counter(row["paper"] for row in rows()).values())
    assert "the bound is " in page  # looseness that was measured
    assert commands.run(tmp_path, "list", "--html", "p.html").exit_code == 2


def test_without_reports_the_verdicts_say_so(tmp_path):
    rows = papers.rows(tmp_path)
    assert {entry["verdict"] for row in rows for entry in row["entries"]} == {"no record", "tested"}
    assert empty(rows) == []


# The contract of quotations: each errata row says what the paper says, word for word, at its number.


HELD = json.loads(DATA.read_text("utf-8"))
TEXTS = texts()
with_papers = pytest.mark.skipif(not TEXTS, reason="the papers' texts are not beside this clone")
QUOTED = quotations.quotations()


def test_every_quotation_is_one_that_was_held_against_the_paper():
    """Without the papers: an edited quotation, or a new one, has no digest."""
    held = {(row["erratum"], row["place"], row["quotation"]) for row in HELD["quotations"]}
    said = {(erratum, quote.place, digest(quote.text)) for erratum, _, quote in QUOTED}
    assert said == held
    edited = Quotation(QUOTED[0][2].place, QUOTED[0][2].text.replace("2000", "200"))
    assert (QUOTED[0][0], edited.place, digest(edited.text)) not in held


def test_every_row_quotes_its_own_paper_and_none_at_length():
    rows = registered()
    assert rows
    for row in rows:
        assert row.source.paper in SHORT, row.name
        assert row.quotes, row.name
        assert all(20 <= len(quote.text) <= 700 for quote in row.quotes), row.name


@with_papers
@pytest.mark.parametrize("at", range(len(QUOTED)), ids=[f"{e}-{q.place}" for e, _, q in QUOTED])
def test_a_quotation_stands_in_the_paper_at_its_number(at):
    erratum, paper, quote = QUOTED[at]
    spans = found_in(SHORT[paper], TEXTS[paper], quote)
    assert spans, f"not in {SHORT[paper]}, {quote.place}"
    assert quotations.entry(TEXTS[paper], spans[0], erratum, quote) in HELD["quotations"]


@with_papers
def test_the_numbered_items_are_those_of_the_papers():
    assert HELD["items"] == {
        SHORT[paper]: quotations.items(SHORT[paper], text) for paper, text in TEXTS.items()
    }
    assert sum(map(len, HELD["items"].values())) > 100


@with_papers
def test_a_misquotation_is_not_found():
    """The slip that this test was written for: u^(1/(1+v)) where Theorem 7 of S2 prints u^(2/v)."""
    text = TEXTS[TAO]
    [theorem] = [q for name, _, q in QUOTED if name == "local-rate" and "(10)" in q.text]
    assert found_in("S2", text, theorem)
    wrong = Quotation(theorem.place, theorem.text.replace(r"u^{\frac{2}{v}}", r"u^{\frac{1}{1+v}}"))
    assert wrong != theorem
    assert not found_in("S2", text, wrong)
    assert not found_in("S2", text, Quotation("Theorem 4", theorem.text))  # the right words, another number
    assert not found_in("S2", text, Quotation(theorem.place, theorem.text.replace("sufficiently", "very")))


def test_a_formula_may_not_swallow_words():
    text = "we show that x=1𝑥1x=1 and that the bound y\\leq 2 holds"
    assert pattern("show that $x=1$ and that").search(text)
    assert not pattern("show that $y\\leq 2$ holds").search(text)
    assert pattern("show that [...] $y\\leq 2$ holds").search(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It halts by $t=2$.", "It halts by $t=2$."),
        (r"It is at most $t. \quad (10)$", r"It is at most $t. \quad (10)$"),
        ("It is at most $t,$", "It is at most $t,$ [...]"),
        ("and so it halts.", "[...] and so it halts."),
        ("$x=1$", "[...] $x=1$ [...]"),
        ("10: Play an arm", "10: Play an arm [...]"),
    ],
)
def test_a_quotation_is_shown_with_signs_where_it_is_cut(text, shown):
    assert excerpt(text) == shown
