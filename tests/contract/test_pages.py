"""Every committed page is short before its folds, and says of one thing one word."""

import functools
import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests import visible
from tests.committed import NAMES, REPORTS
from tests.contract.test_declared_holes import BAD, WORST
from verifiable_dp.record import questions
from verifiable_dp.record.model import Record
from verifiable_dp.render import docs, form, site, summary_card
from verifiable_dp.render.markdown import to_dpia, to_dpia_page
from verifiable_dp.render.page import environment, ours, render, render_index, render_pack
from verifiable_dp.report import Report

FIRST, BEFORE_FOLDS = 150, 1500
PAGES = [path.relative_to(REPORTS).as_posix() for path in sorted(REPORTS.rglob("*.html"))]
# Words for broken variants, and for what became of them, that readers took for different things.
BANNED = re.compile(
    r"\b(mutants?|kill(s|ed|ing)?|kill table|worse algorithms?|survived|surviving|self-attested"
    r"|mutation suite|passed this audit)\b",
    re.IGNORECASE,
)


@functools.cache
def report(name):
    return Report.load(REPORTS / name / "record.json")


def stated(name, told):
    """A record with these declarations, which nobody verified."""
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    return Record.of({**record, "declarations": told})


def border(name):
    """Pages at the borders: a weak audit, one without an upper bound, a hole declared, a large delta."""
    if name == "weak":
        return render(report("dp-exponential-nas").parsed, drawn=False)
    if name == "hole":
        return render(report("dp-se").declare(BAD).parsed, drawn=False)
    if name == "weak hole":
        told = {"unprotected_outputs": BAD["unprotected_outputs"], "contribution": {"max_rounds_per_user": 1}}
        told["expires"] = "2098-06-30"
        return render(report("dp-exponential-nas").declare(told).parsed, drawn=False)
    if name == "undecided":
        changed = {"verdict": "inconclusive", "reason": "weak", "epsilon_upper": None}
        changed["unbounded"] = {"what": "raw rewards are converted to text", "file": "a.py", "line": 3}
        return render(Record.of({**report("dp-se").record, **changed}), drawn=False)
    return render(report("dp-lin-ucb").parsed, drawn=False)


def read(page):
    """All that is read, folded or not, without code, file names and settings."""
    found = re.sub(r"<(style|script|code)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return re.sub(r"\S+\.(html|json|py)\b|--\w+|\w+ = \S+", " ", found)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_short_before_its_folds(name):
    page = (REPORTS / name / "record.html").read_text("utf-8")
    assert 60 < len(visible.first_screen(page)) <= FIRST
    assert 500 < len(visible.words(page)) <= BEFORE_FOLDS


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_short_before_its_folds(path):
    """Registers, errata, studies and figures, too. Left out: a site's search and documents."""
    assert 40 < len(visible.words((REPORTS / path).read_text("utf-8"))) <= BEFORE_FOLDS


@pytest.mark.parametrize(
    "path", ["index.html", "errata.html", "papers.html", "mutants.html", "studies/S5/index.html"]
)
def test_a_page_is_short_only_for_its_folds(path):
    """Control: with its folds open it is too long, or with one that has most of the words."""
    page = (REPORTS / path).read_text("utf-8")
    assert len(visible.words(page.replace("<details", "<details open"))) > BEFORE_FOLDS
    if path in ("index.html", "studies/S5/index.html"):
        starts = [found.start() for found in re.finditer("<details>", page)]
        opened = (f"{page[:i]}<details open>{page[i + 9 :]}" for i in starts)
        assert max(len(visible.words(one)) for one in opened) > BEFORE_FOLDS


def test_pages_that_are_not_in_reports_are_short_too():
    """The form, two pages to print, and a register of records full of holes and of bad files."""
    holes = [stated(name, WORST) for name in NAMES]
    broken = [(f"{i}.json", "the digest does not fit what the record says") for i in range(300)]
    index = render_index(holes, [f"{name}.html" for name in NAMES], broken=broken)
    for page in (form.render(), render_pack(stated("shuffled-linear", WORST)), index):
        assert 400 < len(visible.words(page)) <= BEFORE_FOLDS


@pytest.mark.parametrize("name", ["dp-se", "adaptive-tree-printed"])
def test_a_page_with_holes_and_plots_is_short(name):
    """Words within pictures count: these two have most of them."""
    page, plain = (render(stated(name, WORST), drawn=drawn) for drawn in (True, False))
    assert len(visible.words(plain)) < len(visible.words(page)) <= BEFORE_FOLDS


@pytest.mark.parametrize("name", NAMES)
def test_a_page_with_holes_is_short_and_names_them(name):
    """Of every record: five holes are named on the first screen. Control: with none it is not red."""
    for declared, red in ((BAD, True), (WORST, True), ({"expires": "2098-06-30"}, False)):
        whole = stated(name, declared)
        page = render(whole, drawn=False)
        assert len(visible.first_screen(page)) <= FIRST
        assert len(visible.words(page)) <= BEFORE_FOLDS
        assert ('<div class="banner hole">' in page) is red
        holes = [one.question.brief for one in questions.holes(whole)]
        screen = page[: page.index("</section>")]
        assert declared is WORST or not [name for name in holes if name not in screen]
        assert not [name for name in holes if f'<b class="hole">{name.capitalize()}</b>' not in page]


@pytest.mark.parametrize(
    ("name", "told", "leaves_out"),
    [("dp-se", BAD, True), ("dp-se", WORST, True), ("tree-sum", {"expires": "2098-06-30"}, False)],
)
def test_a_first_screen_leaves_out_no_more_than_it_has_to(monkeypatch, name, told, leaves_out):
    """Control: with more room nothing, with less room more."""
    found = []
    for room in (1000, summary_card.ROOM, 10):
        monkeypatch.setattr(summary_card, "ROOM", room)
        found.append(len(visible.first_screen(render(stated(name, told), drawn=False))))
    whole, fits, least = found
    assert (whole > FIRST) is leaves_out
    assert least <= fits <= FIRST
    assert (fits == whole) is not leaves_out


@pytest.mark.parametrize("name", ["weak", "hole", "weak hole", "undecided", "delta"])
def test_pages_at_the_borders_are_short_too(name):
    page = border(name)
    assert 60 < len(visible.first_screen(page)) <= FIRST
    assert 500 < len(visible.words(page)) <= BEFORE_FOLDS


def test_what_is_too_long_would_be_found():
    """Control: unfolded, the same page has too many words; more words on its first screen count."""
    page = (REPORTS / "dp-se" / "record.html").read_text("utf-8")
    assert len(visible.words(page.replace("<details>", "<details open>"))) > BEFORE_FOLDS
    longer = page.replace("<dt>Held?</dt>", f"<dt>Held?</dt>{'word ' * 60}")
    assert len(visible.first_screen(longer)) > FIRST
    assert visible.words("<p>a <b>b</b></p><details><summary>c</summary>d<p>e</p></details>f") == [*"abcf"]
    assert visible.words("<details><summary>c</summary><b>d</b><wbr/>e</details>f") == [*"cf"]
    assert visible.words("<details open><summary>c</summary>d<details>e</details></details>") == [*"cd"]
    assert visible.words("<p>a<b>b</b>.<br>c</p>d") == ["ab.", "c", "d"]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_one_word_for_one_thing(path):
    page = (REPORTS / path).read_text("utf-8")
    assert sorted({found[0] for found in BANNED.finditer(read(page))}) == []


def test_a_banned_word_would_be_found():
    """Control: in text it is found; in a file name, a style or code it is not."""
    for word in ("a mutant", "12 killed", "Kill table", "survived"):
        assert BANNED.search(read(f"<p>{word}</p>"))
    for text in (
        "<style>.mutant{}</style>",
        "<a href='mutants.html'>mutants.html</a>",
        "<code>mutants</code>",
    ):
        assert not BANNED.search(read(text))


# No page of any kind shows more than 1,500 words before folds, as `tests.visible` counts them.


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
