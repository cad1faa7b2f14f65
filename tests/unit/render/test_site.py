"""The static site: every page is there, light, in one look, and no link of it leads nowhere."""

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.committed import REPORTS, without_plots
from verifiable_dp.campaign import papers
from verifiable_dp.cli import main
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.sealing import digest, text
from verifiable_dp.render import docs, site

DOCS = Path(__file__).parents[3] / "docs"
FEW = ("tree-sum", "dp-linear-printed", "dp-linear")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Some committed reports, errata, papers, a study, a signature, and a file that does not hold."""
    folder = tmp_path_factory.mktemp("reports")
    for name in FEW:
        shutil.copytree(REPORTS / name, folder / name)
    for name in ("errata.json", "errata.html", "papers.html"):
        shutil.copy(REPORTS / name, folder)
    (folder / "tree-sum" / "record.json.sig").write_text("{}", "utf-8")
    (folder / "damaged").mkdir()
    (folder / "damaged" / "record.json").write_text("{", "utf-8")
    study = json.loads((REPORTS / "studies" / "S4" / "study.json").read_text("utf-8"))
    study["figures"], study["statements"] = study["figures"][1:3], study["statements"][:2]
    for figure in study["figures"]:
        figure["statements"] = [row["name"] for row in study["statements"]]
    study["digest"] = digest(study)
    (folder / "studies" / "S4").mkdir(parents=True)
    (folder / "studies" / "S4" / "study.json").write_text(text(study), "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(reports, tmp_path_factory):
    """The site without its plots, which take most of the time."""
    place = tmp_path_factory.mktemp("site") / "site"
    with pytest.MonkeyPatch.context() as patched:
        without_plots(patched)
        found = site.write(reports, place, documents=DOCS, items=[])
    return place, found


def texts(place):
    return {path: path.read_text("utf-8") for path in sorted(place.rglob("*.html"))}


def test_all_pages_are_there_and_their_links_lead_somewhere(made):
    place, found = made
    names = {path.relative_to(place).as_posix() for path in found.pages}
    assert names == {path.relative_to(place).as_posix() for path in place.rglob("*.html")}
    assert {"index.html", "errata.html", "search.html", "docs/README.html", "docs/CHANGELOG.html"} <= names
    assert {f"{name}/record.html" for name in FEW} <= names
    assert {f"docs/{path.stem}.html" for path in DOCS.glob("*.md")} <= names
    assert {f"studies/S4/{name}.html" for name in ("index", "figure-3a", "figure-3b")} < names
    assert (found.broken, found.heavy) == ((), ())
    assert list(site.broken_links(place)) == []


def test_pages_have_one_look_and_load_nothing(made):
    place, _ = made
    pages = texts(place)
    assert len(pages) > 2
    for path, page in pages.items():
        assert html.unescape(page).count("Content-Security-Policy\" content=\"default-src 'none'") == 1, path
        assert page.count('<nav class="site" aria-label="Site">') == 1, path
        assert not re.search(r"<link|<iframe|@import|url\((?!#)", page), path
        assert path.stat().st_size < 450_000, path
        # A reader finds the search and the records from everywhere.
        bar = page[page.index('<nav class="site"') : page.index("</nav>", page.index('<nav class="site"'))]
        links = re.findall(r'href="([^"#]*)', bar)
        assert all((path.parent / link).is_file() for link in links)
        assert {(path.parent / link).resolve() for link in links} >= {
            (place / name).resolve() for name in ("index.html", "search.html", "docs/index.html")
        }


def test_documents_link_the_pages_before_and_after_them_and_their_file(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "index.md").write_text("# Start\n\n[two](two.md), [one](one.md)\n")
    (folder / "one.md").write_text("# One\n")
    (folder / "two.md").write_text("# Two <b>\n")
    pages = {doc.name: body for doc, body in docs.turned(docs.read(folder, tmp_path), "https://x/edit/")}
    assert list(pages) == ["index.html", "two.html", "one.html"]  # in the order of the index
    assert 'rel="prev" href="index.html">← Start' in pages["two.html"]
    assert 'rel="next" href="one.html">One →' in pages["two.html"]
    assert 'href="https://x/edit/docs/two.md">Edit this page' in pages["two.html"]
    assert "Two &lt;b&gt; →" in pages["index.html"]
    assert 'rel="prev"' not in pages["index.html"]  # the controls
    assert 'rel="next"' not in pages["one.html"]
    without = {doc.name: body for doc, body in docs.turned(docs.read(folder, tmp_path))}
    assert "file: docs/two.md" in without["two.html"]


def test_a_long_document_is_folded_after_its_first_sections(tmp_path, monkeypatch):
    """It keeps its words, their order and its anchors. Control: one that is short is not folded."""
    parts = ("# Long", "first words", "## One", "some words", "## Two", "> ## Quoted", "### Within", "more")
    (tmp_path / "a.md").write_text("\n\n".join([*parts, "## Three"]), "utf-8")
    (whole,) = docs.read(tmp_path, tmp_path)
    monkeypatch.setattr(docs, "_ROOM", 8)
    (folded,) = docs.read(tmp_path, tmp_path)
    assert "<details" not in whole.body
    assert folded.body.count("<details") == 2
    assert '<details class="part"><summary><h2>Two</h2>\n</summary><div class="here" id="two">' in folded.body
    assert (
        folded.body.index('<h2 id="one">') < folded.body.index("some words") < folded.body.index("<details")
    )
    anchors, read = (
        [re.findall(r'id="(.*?)"', doc.body) for doc in (whole, folded)],
        [re.sub("<[^>]*>", " ", doc.body).split() for doc in (whole, folded)],
    )
    assert anchors[0] == anchors[1]
    assert read[0] == read[1]
    assert whole.sections == folded.sections


def test_a_link_that_leads_nowhere_is_named(made, tmp_path):
    """Controls: a page that is gone, an anchor that is not there, one outside, a picture of another."""
    place, _ = made
    copy = tmp_path / "site"
    shutil.copytree(place, copy)
    (copy / "docs" / "concepts.html").unlink()
    (tmp_path / "outside.html").write_text("<p>", "utf-8")
    added = (
        '<a href="docs/records.html#no-such"></a><a href="../outside.html"></a><img src="https://a.b/c.png">'
    )
    page = (copy / "errata.html").read_text("utf-8")
    (copy / "errata.html").write_text(page.replace("</main>", f"{added}</main>"), "utf-8")
    found = [(path.name, link) for path, link in site.broken_links(copy)]
    of_errata = {link for name, link in found if name == "errata.html"}
    assert of_errata == {"docs/records.html#no-such", "../outside.html", "https://a.b/c.png"}
    assert ("index.html", "concepts.html") in found
    assert any(name == "search.html" and link.startswith("docs/concepts.html#") for name, link in found)


def test_the_search_is_a_list_that_needs_no_script(made):
    place, _ = made
    page = (place / "search.html").read_text("utf-8")
    items = re.findall(r"<li.*?</li>", page[page.index('class="found"') :], re.DOTALL)
    said = [html.unescape(item).lower() for item in items]
    for sought, address in (
        ("quadrature", "docs/"),
        ("dp-linear as printed", "dp-linear-printed/record.html"),
        ("nist sp 800-226", "docs/records.html#"),
    ):
        assert any(sought in item and f'href="{address}' in item for item in said), sought
    assert page.count("hidden>") == 1  # nothing but the field, which does nothing without the script
    rows = json.loads((REPORTS / "errata.json").read_text("utf-8"))["errata"]
    assert all(f'href="errata.html#{row["name"]}"' in page for row in rows)


def test_files_that_do_not_hold_are_named_and_not_copied(reports, made):
    place, found = made
    assert [path.relative_to(reports).as_posix() for path in found.portfolio.broken] == [
        "damaged/record.json"
    ]
    assert not (place / "damaged").exists()
    assert "damaged/record.json" in html.unescape(
        re.sub(r"<[^>]*>", "", (place / "index.html").read_text("utf-8"))
    )
    assert (place / "tree-sum" / "record.json").read_bytes() == (
        reports / "tree-sum" / "record.json"
    ).read_bytes()
    assert (place / "tree-sum" / "record.json.sig").is_file()


def test_a_site_is_written_to_an_empty_folder_elsewhere(reports, tmp_path):
    with pytest.raises(InputError, match="is inside the report folder"):
        site.write(reports, reports / "site")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="is not an empty folder"):
        site.write(reports, tmp_path / "full")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no record found in"):
        site.write(tmp_path / "none", tmp_path / "site")


def test_markdown_of_a_stranger_runs_nothing(tmp_path):
    links = "[a](javascript:x) [b](c.md#d) [e](../secret.txt) ![p](../p.png)"
    words = f"# A <b>title</b>\n\n<script>x</script> {links}\n\n## A\n## A\n"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(words, "utf-8")
    (tmp_path / "docs" / "c.md").write_text("## d\nword\n", "utf-8")
    (tmp_path / "p.png").write_bytes(b"secret")
    found = {doc.name: doc for doc in docs.read(tmp_path / "docs", tmp_path)}
    body = found["a.html"].body
    assert "<script" not in body
    assert 'href="javascript' not in body
    assert 'href="c.html#d"' in body
    assert '<a title="in the repository">e</a>' in body
    assert "<img" not in body
    assert [section.anchor for section in found["a.html"].sections] == ["a-btitleb", "a", "a-1"]
    assert found["c.html"].sections == (docs.Section("d", "d", "word"),)


def test_the_command_says_what_it_wrote_and_what_does_not_hold(tmp_path, monkeypatch):
    without_plots(monkeypatch)
    folder = tmp_path / "reports"
    shutil.copytree(REPORTS / "tree-sum", folder / "tree-sum")
    done = CliRunner().invoke(main, ["site", str(folder), str(tmp_path / "site")])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "site (3 pages, 1 records)" in done.stdout
    (folder / "record.json").write_text("{", "utf-8")
    monkeypatch.setattr(site, "broken_links", lambda place: [(place / "index.html", "no.html")])
    done = CliRunner().invoke(main, ["site", str(folder), str(tmp_path / "again")])
    assert done.exit_code == 2
    assert "invalid: " in done.stderr
    assert "broken link: 'no.html'" in done.stderr


@pytest.mark.slow
def test_the_site_of_the_committed_reports(tmp_path):
    found = site.write(REPORTS, tmp_path / "site", documents=DOCS, items=papers.rows(REPORTS))
    assert (found.broken, found.heavy, dict(found.portfolio.broken)) == ((), (), {})
    assert len(found.pages) > 90
