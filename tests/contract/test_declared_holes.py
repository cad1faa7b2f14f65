"""Bad declarations make every rendering worse, never better: each hole is named and each answer quoted."""

import html
import json
import re
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from tests.committed import REPORTS
from verifiable_dp.record import questions
from verifiable_dp.record.decision import decision
from verifiable_dp.record.sealing import text
from verifiable_dp.record.verify import verify
from verifiable_dp.render import pdf, portfolio, renderings, summary_card
from verifiable_dp.render.page import render
from verifiable_dp.report import Report

# In words alone: an output without readers, a measure that is "none" and the number are holes, the rest open.
WORDS = {
    "unprotected_outputs": ["a public dashboard of raw clicks with user ids"],
    "data_security": {"statement": "none"},
    "access_control": {"statement": "everyone reads raw clicks"},
    "data_minimisation": {"statement": "kept for ever"},
    "contribution": {"max_rounds_per_user": 100_000},
}
# The same, with the typed answers beside the words.
BAD = {
    "unprotected_outputs": [{"what": WORDS["unprotected_outputs"][0], "readers": "public"}],
    "data_security": {"encrypted": False, **WORDS["data_security"]},
    "access_control": {"readers": "anyone", **WORDS["access_control"]},
    "data_minimisation": {"kept_days": 1_000_000, **WORDS["data_minimisation"]},
    "contribution": WORDS["contribution"],
}
# Every question that has a bad answer, answered so; more names and authors than a first screen has room for.
WORST = {
    **BAD,
    "expires": "2020-01-01",
    "actors": [{"role": "reader", "trusted": False}],
    "threat_hypotheses": [{"harm": "exposure", "world_0": [0.0] * 3, "world_1": [1.0] * 3}],
    "contribution": {"max_rounds_per_user": 100_000, "enforced_by": "none"},
    "accounting": {"total_epsilon": 1000.0},
    "deployment": {"model": "other", "production_commit": "0000000"},
    "administrative": {"authors": ["Dr. Anna Maria Person of Some Institute", "B. Body", "C. de la Cruz"]},
}
# The same five questions, answered so that nothing is a hole.
GOOD = {
    "unprotected_outputs": [{"what": "server logs", "readers": "trusted"}],
    "data_security": {"encrypted": True, "statement": "encrypted at rest"},
    "access_control": {"readers": "named people", "statement": "two operators"},
    "data_minimisation": {"kept_days": 1, "statement": "deleted after a day"},
    "contribution": {"max_rounds_per_user": 5},
}
HOLES = (
    "other outputs of the data",
    "rounds of one person",
    "encryption",
    "readers of raw data",
    "retention",
)
MORE = ("expiry", "trust model", "commit in production", "actors and trust", "harm to prevent")
NAMED = {
    "bad": HOLES,
    "words": (HOLES[0], "rounds of one person", "data security"),
    "worst": (*HOLES, *MORE, "what enforces the cap", "total epsilon of one person"),
}
QUOTED = ("public dashboard of raw clicks with user ids", "everyone reads raw clicks", "kept for ever")
# Forms that hold no more of a check than its name.
BRIEF = ("in-toto",)
RED = {
    "html": lambda shown, holes: '<div class="banner hole">' in shown,
    "pack": lambda shown, holes: '<div class="banner hole">' in shown,
    "junit": lambda shown, holes: len(ET.fromstring(shown).findall(".//failure")) == holes,
    "sarif": lambda shown, holes: (
        [r["level"] for r in json.loads(shown)["runs"][0]["results"] if r["ruleId"] == "DP501"]
        == ["error"] * holes
    ),
    "github": lambda shown, holes: shown.count("::error title=DP501::") == holes,
    "in-toto": lambda shown, holes: json.loads(shown)["predicate"]["result"] == "FAILED",
    "compliance": lambda shown, holes: (
        [one["state"] for one in json.loads(shown)["questionnaire"]].count("hole") == holes
    ),
    "markdown": lambda shown, holes: f"**Not as declared: {holes} holes" in shown,
    "dpia": lambda shown, holes: f"**Not as declared: {holes} holes" in shown,
    "opendp": lambda shown, holes: "# The declarations leave holes in the promise" in shown,
}


@pytest.fixture(scope="module")
def declared():
    whole = Report.load(REPORTS / "dp-se" / "record.json")
    return {
        "bad": whole.declare(BAD),
        "words": whole.declare(WORDS),
        "worst": whole.declare(WORST),
        "good": whole.declare(GOOD),
        "none": whole,
    }


def shown_as(report, to, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(report.to_json(), "utf-8")
    return renderings.render(path, to).decode()


def read(shown):
    """What is read: no tags of a page, no escapes."""
    if not shown.startswith("<!doctype"):
        return " ".join(html.unescape(shown).replace("\\", "").split())
    found = re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", shown, flags=re.DOTALL)
    return " ".join(html.unescape(found).replace("\\", "").split())


def test_every_rendering_is_looked_at():
    # Provenance says how a record was made, and concludes nothing.
    assert {*RED, "pdf", "slsa"} == set(renderings.formats())


@pytest.mark.parametrize("to", RED)
def test_bad_declarations_are_red_and_named_in_every_rendering(to, declared, tmp_path):
    """Control: good answers to the same questions, and none, are not."""
    for bad, holes in NAMED.items():
        if bad == "worst" and to == "html":  # drawing takes long; contract/test_pages.py looks at this page
            continue
        shown = shown_as(declared[bad], to, tmp_path)
        said = read(shown).lower()
        assert [hole for hole in holes if hole not in said] == []
        assert RED[to](shown, len(holes))
        if to not in (*BRIEF, "github"):  # which has findings only
            assert [words for words in QUOTED if words not in said] == []
    for other in ("good", "none"):
        shown = shown_as(declared[other], to, tmp_path)
        assert not any(RED[to](shown, len(holes)) for holes in NAMED.values())
    if to not in (*BRIEF, "github"):
        said = read(shown_as(declared["good"], to, tmp_path)).lower()
        assert [
            words for words in ("server logs", "two operators", "deleted after a day") if words not in said
        ] == []


def test_the_pdf_is_the_page(declared, monkeypatch):
    """What WeasyPrint is given is what is looked at above; how it sets a page is not looked at here."""
    given = []

    class Page:
        def __init__(self, string, url_fetcher):
            given.append(string)

        def write_pdf(self, pdf_tags):
            return b""

    fetcher = SimpleNamespace(URLFetcher=lambda allowed_protocols: None)
    monkeypatch.setitem(sys.modules, "weasyprint", SimpleNamespace(HTML=Page, urls=fetcher))
    pdf.to_pdf(declared["bad"].parsed)
    assert [hole for hole in HOLES if hole not in read(given[0]).lower()] == []
    assert RED["html"](given[0], len(HOLES))


def test_terminal_verification_and_register_name_the_holes_too(declared, tmp_path):
    for name, there in (("bad", True), ("good", False), ("none", False)):
        report = declared[name]
        folder = tmp_path / name
        (folder / "x").mkdir(parents=True)
        (folder / "x" / "record.json").write_text(text(report.record), "utf-8")
        page = read(portfolio.write(folder)[0].read_text("utf-8"))
        faces = (report.line(), report.summary(), report.brief(), verify(report.record).summary(), page)
        for face in faces:
            assert [hole in face for hole in HOLES] == [there] * len(HOLES), face[:300]
        assert ("DP501" in report.brief(), "DP501" in report.summary()) == (there, there)
        assert ("hole" in decision(report.parsed).colour) is there
        assert decision(report.parsed).exit_code == int(there)


def test_a_hole_never_makes_a_page_look_better(declared):
    """Bad answers leave no fewer hazards open; what to do next is about the holes. Control: good ones."""

    def looks(name):
        found = summary_card.of(declared_with_blocks(declared[name].parsed))
        return sum(part.count for part in found.hazards), dict(found.answers)["Do next"]

    (bad, following), (told, _), (good, _), (none, _) = map(looks, ("bad", "words", "good", "none"))
    assert min(bad, told) >= none > good
    assert following.startswith("Do not deploy this as declared. Close 5 holes first")


def test_a_hole_is_closed_by_a_change_of_the_deployment(declared):
    """Control: what is not answered is to be declared."""
    said = {
        name: {
            row["id"]: row["action"] for row in declared_with_blocks(declared[name].parsed).blocks["hazards"]
        }
        for name in ("bad", "none")
    }
    assert said["bad"]["NIST-H08"].startswith("Change the deployment")
    assert said["none"]["NIST-H08"].startswith("List all other outputs")


def declared_with_blocks(record):
    from verifiable_dp.compliance import blocks, nist

    return nist.Reviewed.with_blocks(record, blocks.of(record))


def test_words_that_are_dangerous_elsewhere_accuse_nobody(declared):
    """True answers, with a typed one beside each, are no holes, and alone they are open. Control: `BAD`."""
    true = {
        "unprotected_outputs": [
            {"what": "weekly figures published to trusted analysts", "readers": "trusted"}
        ],
        "data_security": {"encrypted": True, "statement": "raw clicks cannot be read by anyone in public"},
        "access_control": {"readers": "named people", "statement": "everybody else is locked out"},
        "data_minimisation": {"kept_days": 30, "statement": "never deleted later than 30 days"},
    }
    alone = {
        table: {"statement": given["statement"]} for table, given in true.items() if isinstance(given, dict)
    }
    for declaration, state in ((true, "acceptable"), (alone, "open")):
        record = declared["none"].declare(declaration).parsed
        assert decision(record).holes == ()
        assert {one.state for one in questions.answers(record) if one.given} == {state}


def test_words_beside_an_answer_that_is_a_hole_are_not_acceptable(declared):
    """Control: beside good answers they are; `contribution` and outputs have no words beside them."""
    beside = {f"{table}.statement" for table in ("data_security", "access_control", "data_minimisation")}
    for name, state in (("bad", "open"), ("good", "acceptable")):
        answers = questions.answers(declared[name].parsed)
        assert {one.state for one in answers if one.question.id in beside} == {state}


def test_every_question_has_a_judge_a_name_and_an_example_of_its_form():
    ids = [one.id for one in questions.QUESTIONS]
    assert len(set(ids)) == len(ids) > 30
    assert len({one.brief for one in questions.QUESTIONS}) == len(ids)
    assert {one.section for one in questions.QUESTIONS} == {"a", "b", "c", "d", ""}
    assert not [one.id for one in questions.QUESTIONS if not one.ask.endswith("?") and "?" not in one.ask]


def test_an_annex_asks_each_question_once(declared):
    from verifiable_dp.render.markdown import to_dpia

    annex = to_dpia(declared["good"].parsed).replace("\\", "")
    assert {annex.count(f"| {one.ask} |") for one in questions.QUESTIONS} == {1}
    assert render(declared["good"].parsed, drawn=False).count("Declared:</b>") == 8


def test_no_sentence_ends_twice(declared):
    """Of a finding beside what to do. Control: that there are five of them."""
    for said in (read(declared["bad"].to_html()), declared["bad"].summary()):
        assert said.lower().count("to do: change the deployment") == len(HOLES)
        assert ".. To do" not in said
        assert ".; to do" not in said
