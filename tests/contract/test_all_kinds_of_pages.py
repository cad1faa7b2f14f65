"""No page of any kind shows more than 1,500 words before folds, as `tests.visible` counts them."""

import functools
import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests import visible
from tests.committed import NAMES, REPORTS
from tests.contract.test_declared_holes import WORST
from verifiable_dp.record.model import Record
from verifiable_dp.render import docs, form, site
from verifiable_dp.render.markdown import to_dpia, to_dpia_page
from verifiable_dp.render.page import environment, ours, render_pack

DOCS = Path(__file__).parents[2] / "docs"
MOST = 1500
BAR = '<nav class="site">Records Errata Papers Broken variants Studies Documentation Search</nav>'


@functools.cache
def records():
    """Every committed record as it is, and with each question answered badly."""
    found = [json.loads((REPORTS / name / "record.json").read_text("utf-8")) for name in NAMES]
    return [Record.of({**one, **told}) for one in found for told in ({}, {"declarations": WORST})]


def committed(pattern, without=()):
    return [path.read_text("utf-8") for path in sorted(REPORTS.glob(pattern)) if path.name not in without]


@functools.cache
def documents():
    made = docs.turned(docs.read(DOCS, REPORTS))
    return [BAR + site._shell(doc.title, body=ours(body)) for doc, body in made]


@functools.cache
def annexes():
    return [to_dpia_page(one) for one in records()]


def as_hosts_show_it(text):
    """HTML of Markdown with its own tags, as code hosts make it."""
    return MarkdownIt("commonmark").enable("table").render(text)


# The template of a page, and how many pages of it there are at least. The search of a site lists nothing
# until a word is typed (e2e/test_browser.py).
KINDS = {
    "page": (lambda: committed("*/record.html"), 40),
    "index": (lambda: committed("index.html"), 1),
    "errata": (lambda: committed("errata.html"), 1),
    "papers": (lambda: committed("papers.html"), 1),
    "mutants": (lambda: committed("mutants.html"), 1),
    "study": (lambda: committed("studies/*/index.html"), 5),
    "figure": (lambda: committed("studies/*/*.html", {"index.html"}), 20),
    "form": (lambda: [form.render()], 1),
    "pack": (lambda: [render_pack(one) for one in records()], 80),
    "site": (lambda: documents(), 30),
    "annex": (lambda: annexes(), 80),
    "annex as Markdown": (lambda: [as_hosts_show_it(to_dpia(one)) for one in records()], 80),
}


def too_long(pages):
    return [len(words) for words in map(visible.words, pages) if not 20 < len(words) <= MOST]


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_short_before_their_folds(kind):
    made, least = KINDS[kind]
    pages = made()
    assert len(pages) >= least
    assert too_long(pages) == []


@pytest.mark.parametrize(
    "kind", ["page", "index", "errata", "papers", "mutants", "study", "pack", "site", "annex"]
)
def test_pages_that_are_not_folded_are_too_long(kind):
    """Control: the same pages, with their folds open."""
    opened = [page.replace("<details", "<details open") for page in KINDS[kind][0]()]
    assert too_long(opened)


def test_every_template_of_a_page_is_counted():
    templates = environment()
    names = [name for name in templates.list_templates() if name.endswith(".html.jinja")]
    whole = {name for name in names if "{% extends" in templates.loader.get_source(templates, name)[0]}
    assert {f"{kind}.html.jinja" for kind in KINDS if not kind.startswith("annex")} == whole
