"""What the page of a record says in its first lines is what the Markdown of it says."""

import html
import json
import re
from pathlib import Path

import pytest

from tests.committed import without_plots
from verifiable_dp.evidence import check
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render import markdown, mutation, page, plainly, promised
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.page import render
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

REPORTS = Path(__file__).parents[3] / "reports"
REFUTED = "The claim of epsilon 1 is refuted: epsilon is at least 2. The counterexample can be run again."


def spoken(name):
    """The sentence under the verdict: of the page, of the Markdown."""
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    banner = re.search(r'<p class="verdict">(.*?)</p>', render(Record.of(record), drawn=False), re.DOTALL)[1]
    written = re.search(r"(?m)^\*\*.*?\*\* (.*)", markdown.to_markdown(Record.of(record)))[1]
    return " ".join(html.unescape(banner).split()), written


def test_no_verdict_says_more_than_the_evidence():
    """Literally: these sentences are what people act on."""
    assert spoken("dp-linear")[0] == (
        "No violation was found. The certificate covers every input and every run of this instance if its "
        "premises hold. It does not cover other instances, noise in production, rounding or side channels, "
        "so it does not prove differential privacy of a deployment."
    )
    assert spoken("dp-linear-printed")[0].startswith(REFUTED)
    record = json.loads((REPORTS / "dp-linear" / "record.json").read_text("utf-8"))
    undecided = {**record, "verdict": "inconclusive", "power": None}
    assert words.verdict(Record.of(undecided)).startswith(
        "The audit is inconclusive about epsilon 1: not every check"
    )
    assert words.verdict(Record.of({**record, "checks": []})) == "Privacy was not audited."


@pytest.mark.parametrize(
    ("name", "levels"), [("dp-linear-printed", ["error", "error"]), ("dp-linear", []), ("ucb1", ["error"])]
)
def test_refutations_are_errors_to_code_hosts(name, levels):
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    results = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert [(found["ruleId"], found["level"]) for found in results] == [("DP100", x) for x in levels]


@pytest.mark.parametrize("name", ["dp-linear-printed", "dp-linear", "dp-se", "ucb1"])
def test_page_and_markdown_say_the_same_of_the_verdict(name):
    page, written = spoken(name)
    assert page == written


def test_a_refutation_says_how_far_and_of_which_listing():
    assert spoken("dp-linear-printed")[0] == f"{REFUTED} The listing was audited as printed."
    assert "as printed" not in spoken("dp-linear")[0]


def test_every_judge_has_its_sentence():
    kinds = check.kinds()
    assert {"black_box", "scaling"} <= {kind.name for kind in kinds}
    for kind in kinds:
        assert kind.judge is not None
        assert kind.words is not None


@pytest.mark.parametrize("name", ["dp-se", "shuffled-linear", "dp-nas", "dp-robust-elimination"])
def test_all_faces_take_the_sentence_of_a_check_from_beside_its_judge(name, monkeypatch):
    """Control: a judge that words its numbers otherwise changes every face."""
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    regret = record["regret"]
    found = [*record["checks"], *regret["checks"], *regret.get("tables", [])]
    sentences = {check.in_words(Check.read(one)) for one in found}
    assert len(sentences) > 2
    assert not [said for said in sentences if re.search(r"\b(None|nan|inf|undefined)\b", said)]
    for said in sentences:
        assert said in Report(record).summary()
    written, cases = markdown.to_markdown(Record.of(record)), html.unescape(to_junit(Record.of(record)))
    for one in (*record["checks"], *regret["checks"]):
        assert markdown.escape(check.in_words(Check.read(one))) in written
        assert check.in_words(Check.read(one)) in cases
    for kind in check.kinds():
        monkeypatch.setattr(kind, "words", lambda numbers, result: "otherwise")
    for shown in (
        Report(record).summary(),
        markdown.to_markdown(Record.of(record)),
        to_junit(Record.of(record)),
    ):
        assert shown.count("otherwise") >= len(record["checks"]) + len(regret["checks"])


def test_a_record_read_from_its_file_has_the_plots_of_the_one_that_was_written():
    """A report renders each page twice, before its neighbours stand and after. Control: another record."""
    whole = (REPORTS / "ucb1" / "record.json").read_text("utf-8")
    record = json.loads(whole)
    page.render(Record.of(json.loads(whole, object_pairs_hook=lambda pairs: dict(reversed(pairs)))))
    hits = page._drawn.cache_info().hits
    page.render(Record.of(record))
    assert page._drawn.cache_info().hits == hits + 1
    page.render(Record.of({**record, "seed": record["seed"] + 1}))
    assert page._drawn.cache_info().hits == hits + 1


def test_pages_without_plots_leave_none_behind(monkeypatch):
    """Pages keep the plots of a record; control: an empty one that is kept takes the place of later ones."""
    record = json.loads((REPORTS / "ucb1" / "record.json").read_text("utf-8"))
    caches = (page._drawn, page._kept)
    kept = [cache.cache_info() for cache in caches]
    with monkeypatch.context() as patched:
        without_plots(patched)
        assert "<svg/>" in page.render(Record.of(record))
    assert [cache.cache_info() for cache in caches] == kept


def test_a_mechanism_has_data_and_outputs_and_no_actions():
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    record["target"] |= {"kind": "release", "plays": "data"}
    record["claim"]["unit"] = "pairs"
    said, seen = "changing the data to a neighbour that was tested", "what the mechanism releases"
    who = f"anyone who sees {seen}; the operator is trusted"
    assert promised.promise(Record.of(record)) == (
        f"Epsilon 1 for {said}, against {who}. It names no unit of privacy."
    )
    promise = plainly.summary(Record.of(record))[0]
    assert promise.startswith(f"The promise: {said} makes anything seen in {seen} at most")
    record["target"]["plays"] = "arms"
    assert "the actions and every noisy statistic" in promised.promise(Record.of(record))


def test_a_record_of_regret_alone_has_a_verdict_on_its_first_screen():
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    assert "privacy was not audited</strong>" not in render(Record.of(record), drawn=False)
    record |= {"checks": [], "claim": None, "power": None, "epsilon_lower": 0.0, "mutants": []}
    (banner,) = re.findall(
        r'<div class="banner (\w+)">\s*<strong>(.*?)</strong>', render(Record.of(record), drawn=False)
    )
    assert banner == ("consistent", "Regret: consistent; privacy was not audited")


def test_mutants_that_are_killed_are_good_news_and_fold_away():
    """Of the kill table: what was not killed comes first, and only what survived is in red."""
    table = json.loads((REPORTS / "mutants.json").read_text("utf-8"))
    table["mutants"] = [row for row in table["mutants"] if row["algorithm"] == "dp-robust-elimination"]
    with pytest.MonkeyPatch.context() as patched:
        without_plots(patched)
        made = mutation.render(table)
    before, _, folded = made.partition("<details")
    assert '<span class="missed">missed</span>' in before
    rows = [
        len(re.findall('<tr><th scope="row">', part)) for part in (before.partition("<section")[2], folded)
    ]
    killed = sum(row["outcome"] == "killed" for row in table["mutants"])
    assert rows == [len(table["mutants"]) - killed, killed]
    assert killed > 40
    assert 'class="missed"' not in folded
    assert '"refuted">' not in made
