"""What the page of a record says in its first lines is what the Markdown of it says."""

import html
import json
import re
from pathlib import Path

import pytest

from verifiable_dp.reporting import markdown
from verifiable_dp.reporting.page import render
from verifiable_dp.reporting.report import _STATEMENTS
from verifiable_dp.reporting.sarif import to_sarif

REPORTS = Path(__file__).parents[2] / "reports"
REFUTED = (
    "The claim of epsilon 1 does not hold: epsilon is at least 2, and the counterexample below can be run "
    "again."
)


def spoken(name):
    """The sentence under the verdict: of the page, of the Markdown."""
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    banner = re.search(r'<div class="banner.*?<p>(.*?)</p>', render(record, drawn=False), re.DOTALL)[1]
    written = re.search(r"\*\*Privacy: .*?\*\* (.*)", markdown.to_markdown(record))[1]
    return " ".join(html.unescape(banner).split()), written


def test_no_verdict_says_more_than_the_evidence():
    """Literally: these sentences are what people act on."""
    assert _STATEMENTS["not_refuted"] == (
        "No violation of the claim was found. This is not a proof of privacy."
    )
    assert _STATEMENTS["refuted"].startswith("The claim is refuted: the counterexample below")
    assert _STATEMENTS["inconclusive"].startswith("The evidence decides nothing")
    assert "not a proof of privacy" in spoken("dp-linear")[0]


@pytest.mark.parametrize(
    ("name", "levels"), [("dp-linear-printed", ["error", "error"]), ("dp-linear", []), ("ucb1", ["error"])]
)
def test_refutations_are_errors_to_code_hosts(name, levels):
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    results = json.loads(to_sarif(record))["runs"][0]["results"]
    assert [(found["ruleId"], found["level"]) for found in results] == [("privacy", x) for x in levels]


@pytest.mark.parametrize("name", ["dp-linear-printed", "dp-linear", "dp-se", "ucb1"])
def test_page_and_markdown_say_the_same_of_the_verdict(name):
    page, written = spoken(name)
    assert page == written


def test_a_refutation_says_how_far_and_of_which_listing():
    assert spoken("dp-linear-printed")[0] == f"{REFUTED} It is the listing as printed that was audited."
    assert "as printed" not in spoken("dp-linear")[0]
