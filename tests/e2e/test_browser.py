"""Pages in a real browser: layout at phone and desktop width, filters, dark and print, accessibility.

axe-core is that of the package axe-core-python, or the file that AXE_CORE names (``npm pack axe-core``).
"""

import json
import os
import re
import shutil
from importlib import resources
from pathlib import Path

import pytest

from tests.chromium import CHROMIUM, Chromium
from tests.contract.test_declared_holes import WORST
from tests.unit.registry.test_study import TINY
from verifiable_dp.campaign import papers, reproduction
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import declarations, questions
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import digest, text
from verifiable_dp.registry import study as studies
from verifiable_dp.render import figures, form, mutation, plots, portfolio, sidecars, site, timelines
from verifiable_dp.render.markdown import to_dpia_page
from verifiable_dp.render.page import render, render_errata, render_pack, render_papers, render_study
from verifiable_dp.report import Report

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports"
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
AXE = Path(os.environ.get("AXE_CORE") or resources.files("axe_core_python") / "axe.min.js")
PAGES = (
    *("record", "refuted", "declarations", "portfolio", "errata", "papers", "mutants", "study", "figure"),
    *("study of heavy tails", "pack", "annex", "document"),
    pytest.param("all mutants", marks=pytest.mark.slow),  # hundreds of rows, like those of "mutants"
)
LOOKS = ((360, "light"), (390, "dark"), (768, "light"), (1440, "dark"))

PROBE = """(() => {
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("body *")].filter((e) => {
    for (let p = e; p; p = p.parentElement) {
      if (getComputedStyle(p).overflowX === "auto" || p.tagName === "svg") return false;
    }
    return e.getBoundingClientRect().right > width + 1;
  });
  return {
    width,
    scroll: document.documentElement.scrollWidth,
    wide: wide.map((e) => e.tagName + "." + e.className),
    plots: [...document.querySelectorAll("svg")].map((e) => e.getBoundingClientRect().height),
    loaded: performance.getEntriesByType("resource").map((e) => e.name),
    headings: [...document.querySelectorAll("h1, h2")].map((e) => e.textContent),
    levels: [...document.querySelectorAll("h1, h2, h3, h4")].map((e) => Number(e.tagName[1])),
  };
})()"""
READ = """(() => {
  const box = (e) => e.getBoundingClientRect();
  const seen = (e) => e.checkVisibility() && box(e).width > 1;
  const pictures = [...document.querySelectorAll("figure svg")].filter(seen);
  const ranged = (e) => { const r = document.createRange(); r.selectNodeContents(e); return r; };
  const within = (a, b) => a.left > b.left - 1 && a.right < b.right + 1 && a.top > b.top - 1
    && a.bottom < b.bottom + 1;
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3
    && b.top < a.bottom - 3;
  const scale = (e) => { const m = e.getScreenCTM?.(); return m ? Math.hypot(m.a, m.b) : 1; };
  const size = (e) => parseFloat(getComputedStyle(e).fontSize) * scale(e);
  const words = [...document.querySelectorAll("body *")].filter((e) => seen(e)
    && !e.closest("script, style") && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const found = {
    small: words.map((e) => [e.textContent.slice(0, 30), size(e)]),
    cut: [], struck: [], aside: [],
    broken: [...document.querySelectorAll("td span, .fixed td:nth-child(4)")].filter((e) => seen(e)
      && /^[a-z]+$/.test(e.textContent)
      && box(ranged(e)).height > 1.5 * parseFloat(getComputedStyle(e).lineHeight))
      .map((e) => e.textContent),
    thin: [...document.querySelectorAll("td, th")].filter((e) => seen(e) && box(e).width < 80
      && box(ranged(e)).height > 130).map((e) => e.textContent.slice(0, 30)),
    bare: innerWidth < 800 ? 0
      : pictures.filter((e) => box(e).width < 0.9 * box(e.closest("figure")).width).length,
  };
  for (const picture of pictures) {
    const texts = [...picture.querySelectorAll("text")];
    found.cut.push(...texts.filter((e) => !within(box(e), box(picture))).map((e) => e.textContent));
    texts.forEach((one, i) => found.struck.push(...texts.slice(i + 1)
      .filter((other) => over(box(one), box(other))).map((other) => [one.textContent, other.textContent])));
  }
  for (const e of document.querySelectorAll(".scroll:has(table)")) {
    const said = e.querySelector("caption")?.textContent ?? "table";
    if (seen(e) && e.scrollWidth > e.clientWidth + 1) found.aside.push(said);
  }
  return found;
})()"""
BROKEN_NUMBERS = r"""(() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    const within = node.parentElement;
    if (within.closest("svg, script, style, pre, a") || !within.checkVisibility()) continue;
    for (const m of node.data.matchAll(/[a-z]+ (=|>=) [\d.]+(?!\w)|\d[\d.]*(e?-\d+)+(?![\d\/])/g)) {
      const range = document.createRange();
      range.setStart(node, m.index);
      range.setEnd(node, m.index + m[0].length);
      if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.push(m[0]);
    }
  }
  return found;
})()"""
GRAVE = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
  .filter((v) => v.impact !== "minor")
  .map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]))"""


def recorded(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory, search):
    """Pages of every kind, drawn from the committed numbers: thirty records are on the portfolio."""
    place = tmp_path_factory.mktemp("pages")
    record = recorded("dp-se")
    for check in record["checks"]:
        if check["kind"] == "alignment":
            check["statistics"]["spent"] = [[890, 0.5, -0.5], [891, 1.0, -1.0], [6000, 1.0, -1.0]]
    killed = json.loads((REPORTS / "mutants.json").read_text("utf-8"))
    rows = [row for i, row in enumerate(killed["mutants"]) if row["outcome"] != "killed" or i % 20 == 0]
    found = {
        "record": render(Record.of(record)),
        "refuted": render(Record.of(recorded("adaptive-tree-printed"))),
        "declarations": form.render(),
        "pack": render_pack(Report.load(REPORTS / "shuffled-linear" / "record.json").declare(WORST).parsed),
        "annex": to_dpia_page(Record.of(recorded("dp-exponential-nas"))),
        "errata": render_errata(json.loads((REPORTS / "errata.json").read_text("utf-8"))),
        "papers": render_papers(papers.rows(REPORTS)),
        "study of heavy tails": render_study(
            json.loads((REPORTS / "studies" / "S2" / "study.json").read_text("utf-8"))
        ),
        "mutants": mutation.render({**killed, "mutants": rows}),
        "all mutants": mutation.render(killed),
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(studies, "study", lambda name: TINY)
        reproduction.reproduce("tiny", out=place)
    (figure,) = set((place / "tiny").glob("*.html")) - {place / "tiny" / "index.html"}
    paths = {
        "figure": figure,
        "study": place / "tiny" / "index.html",
        "portfolio": place / "records" / "index.html",
        "document": search.with_name("docs") / "renderings.html",
    }
    for name, page in found.items():
        paths[name] = place / f"{name}.html"
        paths[name].write_text(page, "utf-8")
    thirty(place / "records")
    portfolio.write(place / "records")
    return paths


def thirty(folder):
    """Thirty records: the committed ones, of every kind."""
    known = sorted(REPORTS.glob("*/record.json"))
    for number in range(30):
        record = json.loads(known[len(known) * number // 30].read_text("utf-8"))
        place = folder / f"{number:02d}"
        place.mkdir(parents=True)
        record["seed"] = number
        record["digest"] = digest(record)
        (place / "record.json").write_text(text(record), "utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Chromium(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def measure(page, width, folder):
    """Layout of a page at that width; what it loaded."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    opened = Chromium(folder / "profile")
    try:
        opened.look(width)
        opened.open(path)
        return opened.run(PROBE)
    finally:
        opened.close()


def quiet(browser):
    """Nothing on the console, and nothing asked for but the page itself."""
    assert browser.console == []
    assert all(url.startswith(("file:", "about:")) for url in browser.requests)
    assert len(browser.requests) == 1


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("which", PAGES)
def test_the_page_fits_its_window(browser, pages, which, width, scheme):
    browser.look(width, scheme=scheme)
    browser.open(pages[which])
    found = browser.run(PROBE)
    assert found["width"] == width
    assert found["scroll"] <= width
    assert found["wide"] == []
    assert found["loaded"] == []
    assert all(height > 50 for height in found["plots"] if height)  # 0: of a closed part
    assert found["levels"][0] == 1
    assert found["levels"].count(1) == 1
    assert all(b - a <= 1 for a, b in zip(found["levels"], found["levels"][1:], strict=False))
    quiet(browser)
    read = browser.run(READ)
    least = 11 if width >= 390 else 10.5
    assert [(said, size) for said, size in read["small"] if size < least] == []
    assert (read["cut"], read["struck"], read["bare"], read["thin"]) == ([], [], 0, [])
    if width >= 390:  # on the narrowest the widest tables are scrolled
        assert read["aside"] == []
    assert not [said for said in read["aside"] if said.startswith("Privacy and regret")]
    assert read["broken"] == []


@needs_browser
@pytest.mark.parametrize(
    "which", ["record", "refuted", "portfolio", "errata", "papers", "study of heavy tails"]
)
def test_no_number_is_broken_on_any_width(browser, pages, which):
    """On screen and on paper. Control: where lines may end in them, some do."""
    broken = []
    page = pages[which].read_text("utf-8")
    for allowed in (False, True):
        path = pages[which].with_name("whole.html")
        path.write_text(page.replace(".whole { white-space: nowrap; }", "") if allowed else page, "utf-8")
        for width, media in ((340, "screen"), (390, "screen"), (768, "screen"), (720, "print")):
            browser.look(width, media=media)
            browser.open(path)
            browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            broken += [(allowed, width, said) for said in browser.run(BROKEN_NUMBERS)]
    assert [row for row in broken if not row[0]] == []
    assert broken


@needs_browser
def test_the_register_is_scrolled_at_no_width(browser, pages):
    """Control: with all columns it is."""
    page = pages["portfolio"].read_text("utf-8")
    every = pages["portfolio"].with_name("columns.html")
    every.write_text(re.sub(r"\[data-list\] :is\(th, td\):nth-child\(n\+\d+\) {[^}]*}", "", page), "utf-8")
    aside = {}
    for path in (pages["portfolio"], every):
        for width in (*range(641, 1441, 47), 1183, 1185):
            browser.look(width)
            browser.open(path)
            aside.setdefault(path, []).extend(browser.run(READ)["aside"])
    assert aside[pages["portfolio"]] == []
    assert aside[every]


@needs_browser
def test_what_cannot_be_read_is_told_apart(browser, tmp_path):
    """Small words, words of a picture cut or on each other, a picture in a corner, a table to scroll."""
    path = tmp_path / "page.html"
    picture = '<svg viewBox="0 0 100 50"><text x="{}" y="20">one</text><text y="21">two</text></svg>'
    path.write_text(
        f'<body><small style="font-size:10px">small</small><figure>{picture.format(90)}</figure>'
        f"<figure>{picture.format(2).replace('<svg', '<svg width=80')}</figure>"
        '<div class="scroll" style="overflow-x:auto;width:90px"><table><caption>wide</caption><tr>'
        '<td style="min-width:200px">x</table></div>'
        "<table><tr><td>t<br>h<br>i<br>n<br>n<br>e<br>r<br>w</table>"
        '<table><tr><td style="display:block;width:40px;overflow-wrap:anywhere;line-height:20px">'
        "<span>consistent</span></table>",
        "utf-8",
    )
    browser.look(1440)
    browser.open(path)
    read = browser.run(READ)
    assert ["small", 10] in read["small"]
    assert read["cut"] == ["one"]
    assert ["one", "two"] in read["struck"]
    assert (read["bare"], read["aside"], read["thin"]) == (1, ["wide"], ["thinnerw"])
    assert read["broken"] == ["consistent"]


@needs_browser
def test_names_of_panels_and_of_lines_stand_apart(browser, tmp_path):
    """Of a figure with many lines, in both layouts; control: a name of the axes lies under the legend."""
    whole = json.loads((REPORTS / "studies" / "S4" / "study.json").read_text("utf-8"))
    path = tmp_path / "page.html"

    def struck(width):
        shown = "".join(figures.panels(whole["figures"][0], narrow=narrow) for narrow in (False, True))
        path.write_text(f"<body><figure>{shown}</figure>", "utf-8")
        browser.look(width)
        browser.open(path)
        return browser.run(READ)["struck"]

    assert struck(720) == []
    legend = plots.legend
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            plots,
            "legend",
            lambda axes, n, title: (legend(axes, n), axes.set_title(title, loc="center"))[0],
        )
        assert struck(720) != []


@needs_browser
def test_twenty_seven_records_take_two_screens_and_a_half(browser, pages):
    """Two lines each; control: with one cell that is folded on four lines they take more."""
    browser.look(1440)
    browser.open(pages["portfolio"])
    browser.run("document.querySelectorAll('[data-list] details').forEach((d) => { d.open = true; })")
    last = "document.querySelectorAll('[data-list] tbody tr')[26].getBoundingClientRect().bottom"
    assert browser.run(last) <= 2.7 * 900  # with the fold and its head
    browser.run(
        "document.querySelectorAll('[data-list] tbody td:nth-child(2)').forEach((e) => "
        "{ e.innerHTML = 'a<br>b<br>c<br>d<br>e'; })"
    )
    assert browser.run(last) > 2.7 * 900


@needs_browser
def test_a_register_is_filtered_without_its_script(browser, pages, tmp_path):
    """A state is picked by a button that CSS reads. Control: all are shown before."""
    path = tmp_path / "index.html"
    page = pages["portfolio"].read_text("utf-8")
    path.write_text(page[: page.index("<script>")] + "</body></html>", "utf-8")
    browser.look(768)
    browser.open(path)
    shown = "[...document.querySelectorAll('tr[data-state]')].filter((e) => e.checkVisibility())"
    states = browser.run(
        "[...new Set([...document.querySelectorAll('tr[data-state]')].map((e) => e.dataset.state))]"
    )
    assert states == ["refuted", "weak", "holds", "baseline"]  # those to act on come first
    assert (
        browser.run(f"[...new Set({shown}.map((e) => e.dataset.state))]") == states[:3]
    )  # baselines are folded
    for state in states:
        browser.run(f"document.querySelector('.states [value={state}]').click()")
        assert browser.run(f"[...new Set({shown}.map((e) => e.dataset.state))]") == [state]


@needs_browser
def test_the_form_writes_a_file_of_declarations_that_is_read(browser, tmp_path):
    """Quotes and backslashes included. Control: what was not answered is not in it."""
    path = form.write(tmp_path / "form.html")
    with pytest.raises(InputError, match="already exists"):
        form.write(path)
    browser.look(390)
    browser.open(path)
    assert browser.run("document.getElementById('toml').textContent") == ""
    browser.run(
        """(() => {
          const at = (key) => document.querySelector(`[data-key=${key}]`);
          at("unprotected_outputs").querySelector(".add").click();
          at("unprotected_outputs").querySelector("[data-key=what]").value = 'logs "of" x';
          at("unprotected_outputs").querySelector("[data-key=readers]").value = "trusted";
          at("threat_hypotheses").querySelector(".none").checked = true;
          at("expires").value = "2030-12-31";
          at("encrypted").value = "false";
          at("kept_days").value = "3";
          at("authors").value = ["A. Author", "B. Author"].join(String.fromCharCode(10));
          document.getElementById("answers").dispatchEvent(new Event("input"));
        })()"""
    )
    (tmp_path / "d.toml").write_text(browser.run("document.getElementById('toml').textContent"), "utf-8")
    assert declarations.read(tmp_path / "d.toml") == {
        "expires": "2030-12-31",
        "unprotected_outputs": [{"what": 'logs "of" x', "readers": "trusted"}],
        "threat_hypotheses": [],
        "data_security": {"encrypted": False},
        "data_minimisation": {"kept_days": 3},
        "administrative": {"authors": ["A. Author", "B. Author"]},
    }
    assert browser.run("document.getElementById('count').textContent") == "6 answers."
    keys = browser.run("document.querySelectorAll('.question').length")
    assert keys == len(questions.QUESTIONS)
    quiet(browser)


@needs_browser
def test_a_page_that_is_too_wide_is_told_apart(pages, tmp_path):
    page = pages["record"].read_text("utf-8")
    broken = page.replace("<body>", '<body><div style="width:3000px">wide</div>')
    assert broken != page
    assert measure(broken, 1440, tmp_path)["wide"]


@needs_browser
def test_a_page_that_complains_or_loads_is_told_apart(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<script>null.x</script><img src='http://127.0.0.1:9/x.png'>", "utf-8")
    browser.open(path)
    assert any("TypeError" in line for line in browser.console)
    assert any(url.startswith("http:") for url in browser.requests)


@needs_browser
@pytest.mark.parametrize("which", PAGES)
def test_it_prints_dark_on_white_and_within_the_paper(browser, pages, which):
    browser.look(720, scheme="dark", media="print")
    browser.open(pages[which])
    colours = browser.run(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert browser.run(PROBE)["scroll"] <= 720
    # A card that is kept whole leaves the first sheet empty but for the title.
    kept = browser.run("[...document.querySelectorAll('.card')].map((e) => getComputedStyle(e).breakInside)")
    assert set(kept) <= {"auto"}
    # A head at the foot of a sheet has its first row on the next one.
    rows = "[...document.querySelectorAll('tbody tr:first-child')]"
    assert set(browser.run(f"{rows}.map((e) => getComputedStyle(e).breakBefore)")) <= {"avoid"}
    # What is short is kept whole, so that no line of it and no head of a table is alone on a sheet.
    short = "p, pre, caption, .contents, .question, .scroll:not(:has(tr:nth-child(4)))"
    for found, side in ((short, "breakInside"), ("summary + p", "breakAfter")):
        broken = f"[...document.querySelectorAll('{found}')].map((e) => getComputedStyle(e).{side})"
        assert set(browser.run(broken)) <= {"avoid"}
    # No line of code is cut.
    cut = "[...document.querySelectorAll('pre')].map((e) => getComputedStyle(e).whiteSpace)"
    assert set(browser.run(cut)) <= {"pre-wrap"}
    # Facts that may not part from each other leave the first sheet half empty.
    parted = "[...document.querySelectorAll('.facts dt')].map((e) => getComputedStyle(e).breakAfter)"
    assert set(browser.run(parted)) <= {"auto"}
    # Two numbers side by side do not read as one interval.
    apart = "[...document.querySelectorAll('td.number + td')].map((e) => getComputedStyle(e).paddingLeft)"
    assert not {"0px"} & set(browser.run(apart))
    # A panel higher than a sheet loses its caption to the next one, and one that is shrunk cannot be read.
    high, least = browser.run(PANELS)
    assert high < 960
    assert least >= 10
    # A head with a button is not repeated.
    buttons = "[...document.querySelectorAll('thead button')].map((e) => getComputedStyle(e).display)"
    assert set(browser.run(buttons)) <= {"contents"}
    # Nothing can be opened on paper: what stands under a heading alone is printed.
    alone = "[...document.querySelectorAll('#words dl, #provenance .scroll')].map((e) => e.checkVisibility())"
    assert all(browser.run(alone))
    form = browser.run("[...document.querySelectorAll('#filters')].map((e) => getComputedStyle(e).display)")
    assert set(form) <= {"none"}


PANELS = """(() => {
  const seen = [...document.querySelectorAll("figure svg")].filter((e) => e.checkVisibility());
  const below = (e) => e.closest("figure").querySelector("figcaption")?.offsetHeight ?? 0;
  const scale = (e) => Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b);
  const size = (e) => parseFloat(getComputedStyle(e).fontSize) * scale(e);
  return [
    Math.max(0, ...seen.map((e) => e.getBoundingClientRect().height + below(e))),
    Math.min(99, ...seen.flatMap((e) => [...e.querySelectorAll("text")].map(size))),
  ];
})()"""


NEXT = """(() => {
  const heads = [...document.querySelectorAll(".facts dt")];
  const [next] = heads.filter((e) => e.textContent === "Do next");
  return next.nextElementSibling.getBoundingClientRect().bottom;
})()"""


@needs_browser
@pytest.mark.parametrize("name", ["dp-robust-elimination", "dp-nas", "shuffled-linear"])
def test_the_first_screen_ends_with_what_to_do(browser, tmp_path, name):
    """Those cards are the longest. Control: set with wider lines they do not fit."""
    path, record = REPORTS / name / "record.json", recorded(name)
    shown = render(Record.of(record), drawn=False, around=sidecars.of(path, Record.of(record)))
    browser.look(1440, height=900)
    page = tmp_path / "page.html"
    for height, fits in (("1.42", True), ("6", False)):
        page.write_text(shown.replace("line-height: 1.42", f"line-height: {height}"), "utf-8")
        browser.open(page)
        assert (browser.run(NEXT) <= 900) == fits
    browser.look(390, height=844)
    for order, seen in (("-1", True), ("0", False)):  # control: as it stands on wide screens
        page.write_text(shown.replace(".next { order: -1; }", f".next {{ order: {order}; }}"), "utf-8")
        browser.open(page)
        assert (browser.run(NEXT) <= 600) == seen


FOLDED = """(() => {
  const items = [...document.querySelectorAll("details.item")];
  const seen = items.filter((e) => e.children[1].checkVisibility({contentVisibilityAuto: true}));
  const found = [document.documentElement.scrollHeight, seen.length / items.length];
  document.querySelectorAll("details").forEach((e) => { e.open = true; });
  return [...found, document.documentElement.scrollHeight];
})()"""


@needs_browser
@pytest.mark.parametrize(
    ("which", "most"), [("papers", 2000), ("study of heavy tails", 8000), ("errata", 10_000)]
)
def test_long_lists_are_folded_on_a_phone_and_open_in_print(browser, pages, which, most):
    """Control: open, as they were, they take many more screens; on paper nothing can be opened."""
    browser.look(390)
    browser.open(pages[which])
    folded, within, opened = browser.run(FOLDED)
    assert folded < most
    assert within == 0
    assert opened > 1.5 * most
    browser.look(720, media="print")
    browser.open(pages[which])
    _, within, _ = browser.run(FOLDED)
    assert within == 1


@needs_browser
@pytest.mark.parametrize(
    ("which", "place"),
    [("errata", "loss-of-samples"), ("study of heavy tails", "theorem-4"), ("mutants", "dp-se")],
)
def test_a_link_to_what_is_folded_unfolds_it(browser, pages, which, place):
    """Without a script, also within another fold. Control: its neighbours, and all without the style."""
    page = pages[which].read_text("utf-8")
    plain = pages[which].with_name("unstyled.html")
    plain.write_text(page.replace("details:is(:target, :has(:target))", "details.none"), "utf-8")
    seen = """[...document.querySelectorAll("details.item")].filter((e) =>
      e.children[1].checkVisibility({contentVisibilityAuto: true})).map((e) => e.id)"""
    browser.look(390)
    browser.open(pages[which])
    before = browser.run(seen)
    for path, opened in ((pages[which], [place]), (plain, [])):
        browser.open(path, f"#{place}")
        assert [name for name in browser.run(seen) if name not in before] == opened
        assert browser.run(f"Math.abs(document.getElementById({place!r}).getBoundingClientRect().top)") < 900
    quiet(browser)


@needs_browser
def test_a_section_of_a_document_opens_where_it_is_sought(browser, pages):
    """By its anchor and by words in it, without a script. Controls: before, and by what is not folded."""
    closed = "[...document.querySelectorAll('.part')].filter((e) => !e.open).length"
    browser.look(390)
    browser.open(pages["document"])
    before = browser.run(closed)
    seen = "[...document.querySelectorAll('.part')].every((e) => e.lastElementChild.checkVisibility())"
    assert before == browser.run("document.querySelectorAll('.part').length") >= 2
    assert not browser.run(seen)
    anchor, words = browser.run(
        """(() => { const part = [...document.querySelectorAll(".part")].at(-1);
        const [words] = part.querySelector("p").textContent.split(/[^A-Za-z ]/);
        return [part.querySelector(".here").id, words]; })()"""
    )
    opened = """new Promise((done) => { const part = [...document.querySelectorAll(".part")].at(-1);
      const top = () => done(part.getBoundingClientRect().top);
      if (part.open) top(); else part.addEventListener("toggle", top); })"""
    for fragment in (f"#{anchor}", f"#:~:text={words.strip().replace(' ', '%20')}"):
        browser.open(pages["document"], fragment)
        assert -300 < browser.run(opened) < 844
        assert browser.run(closed) == before - 1
    browser.open(pages["document"], f"#{browser.run('document.querySelector(`:not(.part) > h2`).id')}")
    assert browser.run(closed) == before
    browser.look(720, media="print")
    browser.open(pages["document"])
    assert browser.run(seen)
    quiet(browser)


@needs_browser
def test_a_pack_is_two_sheets(browser, tmp_path):
    """It says so; with declarations it says no number. Control: in the size of a screen it takes more."""
    path = tmp_path / "pack.html"
    for name in ("shuffled-linear", "dp-exponential-nas", "adap-tt"):
        shown = render_pack(Record.of(recorded(name)))
        assert "Two pages for" in shown
        for size, fits in (("10px", True), ("16px", False)):
            path.write_text(
                shown.replace("html { font-size: 10px; }", f"html {{ font-size: {size}; }}"), "utf-8"
            )
            browser.open(path)
            assert (browser.sheets() == 2) is fits
    assert "Two pages for" not in render_pack(
        Report.load(REPORTS / "shuffled-linear" / "record.json").declare(WORST).parsed
    )


@needs_browser
def test_the_figure_of_broken_variants_is_on_the_sheet_of_its_title(browser, pages):
    """It was alone on the second one. Control: a fifth higher it is."""
    high = """(() => { const e = document.querySelector("figure");
      return e.getBoundingClientRect().bottom; })()"""
    room = 979  # pixels between the usual margins of Letter, which is shorter than A4
    browser.look(718, media="print")
    browser.open(pages["all mutants"])
    assert browser.run(high) <= room
    with pytest.MonkeyPatch.context() as patched:
        single = plots.single
        patched.setattr(
            timelines.plots,
            "single",
            lambda name, size, *rest, **more: single(name, 1.2 * size, *rest, **more),
        )
        rows = json.loads((REPORTS / "mutants.json").read_text("utf-8"))["mutants"]
        drawn = timelines.kills(rows)
    browser.run(f"document.querySelector('figure .desk').innerHTML = {json.dumps(drawn)}")
    assert browser.run(high) > room


@needs_browser
def test_a_question_of_several_lines_stands_in_its_box(browser, pages):
    """Control: across the upper line of the box, where legends stand."""
    path = pages["declarations"].with_name("legend.html")
    shown = pages["declarations"].read_text("utf-8")
    found = """[...document.querySelectorAll("fieldset.question > legend")].every((e) => {
      const sides = (x) => x.getBoundingClientRect();
      const [mine, box, next] = [e, e.parentElement, e.nextElementSibling].map(sides);
      return mine.top > box.top && next.top >= mine.bottom - 1; })"""
    browser.look(390)
    for page, inside in ((shown, True), (shown.replace("float: left; width: 100%", ""), False)):
        path.write_text(page, "utf-8")
        browser.open(path)
        assert browser.run(f"document.querySelectorAll('fieldset.question').length && {found}") is inside


@needs_browser
def test_a_register_on_a_phone_parts_the_date_from_the_signature(browser, pages):
    """In one line, with a space. Control: a line of its own, between which other values stood."""
    place = (
        "[...document.querySelectorAll('[data-list] td:nth-child(10)')].filter((e) => e.checkVisibility())"
    )
    browser.look(390)
    browser.open(pages["portfolio"])
    assert all(re.search(r"\d (not )?sign", said) for said in browser.run(f"{place}.map((e) => e.innerText)"))
    browser.run("document.styleSheets[0].insertRule('.cards td > br { display: inline !important }', 0)")
    assert all("\n" in said for said in browser.run(f"{place}.map((e) => e.innerText)"))


@needs_browser
def test_light_and_dark_differ(browser, pages):
    grounds = []
    for scheme in ("light", "dark"):
        browser.look(1440, scheme=scheme)
        browser.open(pages["record"])
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
        # Words beneath a picture have the colours of the page: verdicts there were dark on dark.
        page, figure = browser.run(
            "['body', 'figure'].map((e) => ['--ink', '--soft', '--link', '--good', '--bad', '--open']"
            ".map((c) => getComputedStyle(document.querySelector(e)).getPropertyValue(c)))"
        )
        assert page == figure
    assert grounds[0] == "rgb(255, 255, 255)"
    assert grounds[1] != grounds[0]


# ---------------------------------------------------------------- accessibility


@needs_browser
@pytest.mark.parametrize("which", PAGES)
def test_axe_finds_nothing_above_minor(browser, pages, which):
    script = AXE.read_text("utf-8")
    for width, scheme in ((360, "light"), (1440, "dark")):
        browser.look(width, scheme=scheme)
        browser.open(pages[which])
        browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        browser.run(script + ";0")
        assert browser.run(GRAVE) == [], (width, scheme)


@needs_browser
def test_axe_sees_what_is_wrong(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<title>x</title><img src='data:,'><p style='color:#ccc'>pale</p><select></select>", "utf-8"
    )
    browser.look(1440)
    browser.open(path)
    browser.run(AXE.read_text("utf-8") + ";0")
    assert {"image-alt", "color-contrast", "select-name"} <= {name for name, _ in browser.run(GRAVE)}


# ---------------------------------------------------------------- filters of the portfolio

STATE = """({
  shown: [...document.querySelectorAll("tr[data-verdict]")].filter((e) => e.getBoundingClientRect().height)
    .map((e) => [e.dataset.verdict, e.dataset.regret, e.dataset.model, e.dataset.paper, e.textContent]),
  all: document.querySelectorAll("tr[data-verdict]").length,
  count: document.getElementById("count").textContent,
  live: document.getElementById("count").getAttribute("aria-live"),
  hash: location.hash,
  form: getComputedStyle(document.getElementById("filters")).display,
  lists: [...document.querySelectorAll("[data-list]")].filter((e) => !e.hidden).length,
})"""
SET = """((name, value) => {
  const field = document.getElementById("filters").elements[name];
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
})"""


@pytest.fixture
def filtered(browser, pages):
    """Opens the portfolio with a hash; returns what is shown."""

    def look(fragment=""):
        browser.look(1440)
        browser.open(pages["portfolio"], fragment)
        return browser.run(STATE)

    return look


@needs_browser
def test_thirty_records_are_a_small_page(browser, pages, filtered):
    """However fast the machine is, it loads soon. Control: the page of all broken variants is larger."""
    assert filtered()["all"] == 30
    quiet(browser)
    count, most = "document.querySelectorAll('*').length", 5000
    assert browser.run(count) < most
    browser.open(pages["all mutants"])
    assert browser.run(count) > most


@needs_browser
def test_nothing_is_hidden_at_first(browser, filtered):
    """The last rows are folded; a filter unfolds them, so that none is missed."""
    state = filtered()
    assert len(state["shown"]) == 30
    folded = "[...document.querySelectorAll('[data-list] details')].map((e) => e.open)"
    assert browser.run(folded) == [False]
    assert filtered("#verdict=baseline")["shown"]
    assert browser.run(folded) == [True]
    assert state["count"] == "30 of 30 shown"
    assert state["live"] == "polite"
    assert state["form"] == "flex"


@needs_browser
@pytest.mark.parametrize(
    ("column", "facet", "value"),
    [
        (0, "verdict", "refuted"),
        (0, "verdict", "baseline"),
        (1, "regret", "consistent"),
        (2, "model", "local"),
    ],
)
def test_each_filter_keeps_what_it_says(browser, filtered, column, facet, value):
    everything = filtered()["shown"]
    expected = [row for row in everything if row[column] == value]
    assert 0 < len(expected) < len(everything)
    browser.run(f"{SET}({facet!r}, {value!r})")
    state = browser.run(STATE)
    assert state["shown"] == expected
    assert state["count"] == f"{len(expected)} of 30 shown"
    assert state["hash"] == f"#{facet}={value}"
    assert filtered(state["hash"])["shown"] == expected  # the address alone gives the same


@needs_browser
def test_filters_and_words_are_combined_and_taken_back(browser, filtered):
    everything = filtered()["shown"]
    paper = next(row[3] for row in everything if row[0] == "not refuted" and "dp-" in row[4].lower())
    browser.run(f"{SET}('paper', {json.dumps(paper)})")
    browser.run(f"{SET}('verdict', 'not refuted')")
    browser.run(f"{SET}('q', 'DP- consistent')")
    state = browser.run(STATE)
    expected = [
        row
        for row in everything
        if row[3] == paper
        and row[0] == "not refuted"
        and "dp-" in row[4].lower()
        and "consistent" in row[4].lower()
    ]
    assert state["shown"] == expected
    assert expected
    assert filtered(state["hash"])["shown"] == expected
    browser.run("document.querySelector('#filters button').click()")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    state = browser.run(STATE)
    assert len(state["shown"]) == 30
    assert state["hash"] == ""


@needs_browser
def test_what_fits_nothing_shows_nothing_and_says_so(filtered):
    state = filtered("#q=no%20such%20words%20anywhere")
    assert state["shown"] == []
    assert state["count"] == "0 of 30 shown"
    assert state["lists"] == 0
    assert len(filtered("#verdict=nonsense&model=%22%3E%3Cb%3E")["shown"]) == 30


@needs_browser
def test_without_script_it_is_a_plain_table(browser, pages):
    browser.look(1440)
    browser._send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["portfolio"], "#verdict=refuted")
        state = browser.run(STATE)
    finally:
        browser._send("Emulation.setScriptExecutionDisabled", value=False)
    assert len(state["shown"]) == 30
    assert state["form"] == "none"
    assert state["count"] == "30 shown"


SEARCH = """({
  shown: [...document.querySelectorAll(".found li")].filter((e) => e.getBoundingClientRect().height).length,
  all: document.querySelectorAll(".found li").length,
  height: document.documentElement.scrollHeight,
  count: document.getElementById("count").textContent,
})"""


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """The search of a site with all documents."""
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(REPORTS / "tree-sum", place / "reports" / "tree-sum")
    site.write(place / "reports", place / "site", documents=ROOT / "docs")
    return place / "site" / "search.html"


@needs_browser
def test_a_search_lists_nothing_until_a_word_is_typed(browser, search):
    """It was 65 000 pixels on a phone. Control: a common letter finds more than is shown."""
    browser.look(390, height=844)
    browser.open(search)
    state = browser.run(SEARCH)
    assert (state["shown"], state["count"]) == (0, "Nothing is listed yet: type a word.")
    assert state["height"] <= 844
    browser.run(f"{SET}('q', 'quadrature')")
    few = browser.run(SEARCH)
    assert 0 < few["shown"] < 40
    assert few["count"] == f"{few['shown']} of {few['all']} found"
    browser.run(f"{SET}('q', 'e')")
    many = browser.run(SEARCH)
    assert many["shown"] == 40
    assert many["count"].endswith(f" of {many['all']} found, the first 40 shown: add a word")
    browser.run(f"{SET}('q', ' ')")
    assert browser.run(SEARCH)["shown"] == 0


@needs_browser
def test_without_script_a_search_is_the_whole_list(browser, search):
    browser._send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(search)
        state = browser.run(SEARCH)
    finally:
        browser._send("Emulation.setScriptExecutionDisabled", value=False)
    assert state["shown"] == state["all"] > 100
    assert state["count"] == f"{state['all']} shown"
