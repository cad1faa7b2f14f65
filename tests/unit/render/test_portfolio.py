"""All records of a folder on one page: which files count, what is said of damaged ones, and links."""

import contextlib
import html
import html.parser
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.commands import PATIENCE
from tests.small_records import small
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.run import write_index
from verifiable_dp.cli import main
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import SCHEMAS, digest, schema, text
from verifiable_dp.render import page as page_
from verifiable_dp.render import plainly, portfolio
from verifiable_dp.render.page import render_index
from verifiable_dp.render.summary_card import ALONE
from verifiable_dp.report import Report

REPORTS = Path(__file__).parents[3] / "reports"


def record(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


class Page(html.parser.HTMLParser):
    """Rows with their attributes, and where links lead."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.links, self.tags = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr" and "data-verdict" in dict(attrs):
            self.rows.append(dict(attrs))
        if tag == "a":
            self.links.append(dict(attrs)["href"])


DRAWN = {}


@pytest.fixture(autouse=True)
def drawn_once(monkeypatch):
    """Pages are made to be compared with those that are there; drawing takes most of the time."""
    real = portfolio.render

    def render(whole, around=ALONE):
        key = whole.digest, repr(around)
        if key not in DRAWN:
            DRAWN[key] = real(whole, drawn=around == ALONE, around=around)
        return DRAWN[key]

    monkeypatch.setattr(portfolio, "render", render)


@pytest.fixture
def folder(tmp_path):
    """Records at several depths and under several names, beside files of other kinds."""
    place = tmp_path / "evidence"
    for name, path in (
        ("dp-ucb", "dp-ucb/record.json"),
        ("ucb1", "deep/er/record-ucb1.json"),
        ("dp-linear-printed", "other name: 2.json"),
    ):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPORTS / name / "record.json", place / path)
    (place / "dp-ucb" / "record.html").write_text(portfolio.render(Record.of(record("dp-ucb"))), "utf-8")
    (place / "schema").mkdir()
    for name in SCHEMAS:
        (place / "schema" / f"{name}.json").write_text(json.dumps(schema(name)), "utf-8")
    (place / ".cache").mkdir()
    shutil.copy(REPORTS / "se" / "record.json", place / ".cache" / "record.json")
    (place / "package.json").write_text('{"name": "x", "version": "1.0.0"}', "utf-8")
    (place / "broken.json").write_text("{", "utf-8")
    return place


def test_records_are_found_by_what_they_say(folder):
    found = portfolio.find(folder)
    assert [path.relative_to(folder).as_posix() for path in found.records] == [
        "other name: 2.json",
        "deep/er/record-ucb1.json",
        "dp-ucb/record.json",
    ]
    assert not found.broken


def test_links_lead_to_pages_or_records_from_wherever_the_page_is(folder):
    for out in (folder / "index.html", folder.parent / "x.html", folder / "schema" / "y.html"):
        page, _ = portfolio.write(folder, out)
        for link in Page(page.read_text("utf-8")).links:
            assert not re.match(r"[a-z]+:", link)
            path = re.sub(r"%([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), link)
            assert (out.parent / path).is_file(), link
    assert "dp-ucb/record.html" in Page((folder / "index.html").read_text("utf-8")).links


@pytest.mark.parametrize("damage", ["cut", "empty", "edited", "version"])
def test_a_record_that_does_not_hold_is_named_and_not_counted(folder, damage):
    place = folder / "dp-ucb" / "record.json"
    whole = place.read_text("utf-8")
    changed = json.loads(whole)
    if damage == "edited":
        changed["verdict"] = "refuted"
    elif damage == "version":
        changed["schema_version"] = "9.0.0"
        changed["digest"] = digest(changed)
    place.write_text({"cut": whole[: len(whole) // 2], "empty": ""}.get(damage, text(changed)), "utf-8")
    page, found = portfolio.write(folder)
    assert list(found.broken) == [place]
    assert len(found.records) == 2
    shown = page.read_text("utf-8")
    assert "Invalid files" in shown
    assert len(Page(shown).rows) == 2
    said = []
    write_index(folder, say=said.append)
    assert [str(place) in line and "invalid" in line for line in said] == [True]
    with pytest.raises(InputError, match="is invalid, although we have just written it"):
        write_index(folder, ["dp-ucb"])
    done = CliRunner().invoke(main, ["portfolio", str(folder)])
    assert done.exit_code == 2
    assert "invalid: " in done.output


@pytest.fixture
def stale(tmp_path):
    """A folder with a study, errata, a kill table and a record of others that do not hold any more."""
    place = tmp_path / "out"
    for path in ("studies/S3/study.json", "errata.json", "mutants.json", "se/record.json"):
        whole = json.loads((REPORTS / path).read_text("utf-8"))
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text({**whole, "seed": 12345}), "utf-8")
    return place


STALE = ("studies/S3/study.json", "errata.json", "mutants.json", "se/record.json")


def reported(place, *options):
    return CliRunner().invoke(main, ["report", "--workers", "1", "--out", str(place), *options])


@pytest.fixture
def known(monkeypatch):
    """Audits that give the committed records."""

    def evidence(name, *, printed, **_):
        return Report(record(campaign.folder_of(name, printed)))

    monkeypatch.setattr(campaign.api, "evidence", evidence)


@pytest.mark.usefixtures("known")
def test_a_report_does_not_end_on_files_of_others(stale):
    """Its status is of what was made. Negative control: a record of its own that does not hold."""
    done = reported(stale, "--only", "tree-sum", "--only", "dp-linear")
    assert done.exit_code == 0, done.output
    page = re.sub("</?bdi>", "", html.unescape((stale / "index.html").read_text("utf-8")))
    for path in STALE:
        assert f"{stale / path}: " in done.stderr
        assert f'<th scope="row">{path}</th><td>' in page
    assert "edited or corrupted (its digest is" in page
    assert len(Page(page).rows) == 3
    broken = Report({**record("tree-sum"), "seed": 7})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaign.api, "evidence", lambda *_, **__: broken)
        done = reported(stale, "--only", "tree-sum")
    assert done.exit_code == 2
    assert "tree-sum/record.json' is invalid, although we have just written it" in done.stderr
    assert (stale / "index.html").is_file()


@pytest.mark.usefixtures("known")
def test_each_verdict_is_said_as_it_falls_with_the_time_left(tmp_path):
    """Also within the first seconds, in which progress is not shown.

    The shortest audit is the first, by what it took when the folder was made before.
    """
    names = ("dp-linear", "tree-sum", "nas")
    took = {"dp-linear": 40.0, "dp-linear-printed": 30.0, "tree-sum": 2.0, "nas": 9.0}
    for name, seconds in took.items():
        (tmp_path / name).mkdir()
        before = {"provenance": {"cpu_seconds": seconds}}
        (tmp_path / name / "record.json").write_text(json.dumps(before), "utf-8")
    done = reported(tmp_path, *(word for name in names for word in ("--only", name)))
    lines = [line for line in done.stderr.splitlines() if " of 4" in line]
    assert [line.split()[1] for line in lines] == ["tree-sum", "dp-linear", "dp-linear", "nas"]
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        left = "" if last else r", about \d+ s left"
        assert re.search(rf" (not_)?refuted .*\({number} of 4{left}\)$", line), line
    assert [line.split()[1] for line in done.stdout.splitlines()[:3]] == ["dp-linear", "tree-sum", "nas"]


def test_a_folder_is_verified_whole(stale):
    done = CliRunner().invoke(main, ["verify", str(stale)])
    assert done.exit_code == 2
    assert done.stdout == "0 of 4 files are valid; no signature found; the runs were not repeated\n"
    for path in STALE:
        assert f"invalid: {stale / path}: " in done.stderr
    shutil.copy(REPORTS / "errata.json", stale / "errata.json")
    assert (
        CliRunner().invoke(main, ["verify", str(stale)]).stdout
        == "1 of 4 files are valid; no signature found; the runs were not repeated\n"
    )
    done = CliRunner().invoke(main, ["verify", str(stale), "--rerun"])
    assert done.exit_code == 2
    assert "work only with a single file" in done.stderr


def test_diff_names_the_record_that_does_not_hold(stale):
    held, broken = REPORTS / "se" / "record.json", stale / "se" / "record.json"
    for pair in ((held, broken), (broken, held)):
        done = CliRunner().invoke(main, ["diff", *map(str, pair)])
        assert done.exit_code == 2
        assert f"{str(broken)!r} is invalid: record: edited" in done.stderr


def test_the_command_writes_the_page_and_says_where(folder):
    out = folder.parent / "page.html"
    done = CliRunner().invoke(main, ["portfolio", str(folder), "--out", str(out)])
    assert done.exit_code == 0
    assert "3 records" in done.output
    assert len(Page(out.read_text("utf-8")).rows) == 3


def test_nothing_to_show_is_said(tmp_path):
    with pytest.raises(InputError, match="no record"):
        portfolio.write(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        portfolio.write(tmp_path / "none")
    done = CliRunner().invoke(main, ["portfolio", str(tmp_path)])
    assert done.exit_code == 2
    assert not (tmp_path / "index.html").exists()


def test_a_row_carries_what_it_is_filtered_by(folder):
    rows = Page(portfolio.write(folder)[0].read_text("utf-8")).rows
    by_model = {row["data-model"]: row for row in rows}
    assert by_model["none"]["data-verdict"] == "baseline"
    assert {row["data-verdict"] for row in rows} == {"baseline", "not refuted", "refuted"}
    assert all(
        row["data-paper"] == record(name)["target"]["paper"] for name, row in (("ucb1", by_model["none"]),)
    )


def cells(page):
    """Texts of the cells of each row of a record, by the heads of its table."""
    found = []
    for table in re.findall(r"<section data-list>.*?</section>", page, re.DOTALL):
        rows = [
            re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
            for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        ]
        texts = [
            [
                " ".join(html.unescape(re.sub("<[^>]*>", "", cell.replace("<br>", " "))).split())
                for cell in row
            ]
            for row in rows
        ]
        found += [dict(zip(texts[0], row, strict=True)) for row in texts[1:]]
    return {row.get("Target", row.get("Listing")).split()[0]: row for row in found}


def test_a_record_is_one_line_with_its_strength_and_its_misses():
    """Negative control: without the kill table the same record has no miss, and is strong."""
    names = ("dp-se", "dp-nas", "dp-robust-elimination", "ucb1", "dp-linear-printed")
    records, links = [record(name) for name in names], [f"{name}/record.html" for name in names]
    rows = cells(render_index([Record.of(one) for one in records], links))
    assert [(rows[name]["Strength"], rows[name]["Flags"]) for name in names[:4]] == [
        ("strong", "⚑ 1"),
        ("weak", "⚑ 2"),
        ("weak", "⚑ 1"),
        ("", ""),
    ]
    assert " 1 missed" in rows["dp-robust-elimination"]["Broken variants caught"]
    assert rows["dp-se"]["Interval"] == "exactly 1 certified"
    assert rows["ucb1"]["Interval"] == "at least 10.69"
    assert rows["dp-se"]["Unit, horizon"] == "one reward of one round, T = 6000"
    assert rows["dp-se"]["Date, signed"] == f"{records[0]['provenance']['finished'][:10]} not signed"
    assert rows["ucb1"]["Privacy"] == "baseline"
    assert "Sajed & Sheffet 2019, central" in rows["dp-se"]["Target"]
    bare = [found | {"kill_table": None} for found in records]
    alone = cells(render_index([Record.of(one) for one in bare], links))["dp-robust-elimination"]
    assert (alone["Strength"], alone["Broken variants caught"]) == ("strong", "15 of 15")


def test_papers_are_shortened_to_authors_and_year():
    for paper, said in (
        ("Auer, Cesa-Bianchi & Fischer, Finite-time Analysis, Machine Learning 2002", "Auer et al. 2002"),
        ("Wu & Tao, On A, B & C, 1999 and 2001", "Wu & Tao 2001"),
        ("Knuth, The Art of 1234 things, 1968", "Knuth 1968"),
        ("", ""),
        ("a" * 60, "a" * 39 + "…"),
    ):
        assert plainly.short(paper) == said


def test_every_column_can_be_sorted_by_what_its_cells_say():
    """The order of the script, in node: numbers before texts, what says nothing last."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    script = Path(page_.__file__).with_name("templates").joinpath("portfolio.js").read_text("utf-8")
    parts = [
        re.search(rf"  const {name} = \(.*?\n  }};\n", script, re.DOTALL)[0] for name in ("value", "order")
    ]
    rows = ["2", "", "∞", "weak", "10", "1", "Strong"]
    code = (
        "".join(parts)
        + f"const rows = {json.dumps(rows)}"
        + ".map((text) => ({cells: [{dataset: {}, textContent: text}]}));"
        + "const sorted = (sign) => [...rows].sort((a, b) => order(value(a, 0), value(b, 0), sign));"
        + "const said = (sign) => sorted(sign).map((row) => row.cells[0].textContent);"
        + "console.log(JSON.stringify([said(1), said(-1)]));"
    )
    done = subprocess.run([node, "-e", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    up, down = json.loads(done.stdout)
    assert up == ["1", "2", "10", "∞", "Strong", "weak", ""]
    assert down == ["weak", "Strong", "∞", "10", "2", "1", ""]


def test_the_page_is_whole_without_its_script(folder):
    page = portfolio.write(folder)[0].read_text("utf-8")
    tags = Page(page).tags
    form = next(attributes for tag, attributes in tags if tag == "form")
    assert "hidden" in form  # what does nothing is not shown
    assert not any("hidden" in attributes for tag, attributes in tags if tag in ("tr", "section", "table"))
    assert "src=" not in page
    assert "@import" not in page


def test_names_cannot_leave_their_place():
    hostile = record("ucb1")
    hostile["target"]["paper"] = '"><script>alert(1)</script><option value="'
    hostile["target"]["model"] = "</script><script>alert(2)</script>"
    page = render_index(
        [Record.of(hostile)],
        ['" onclick="alert(3)'],
        paths=["<img src=x>"],
        broken=[("<b>", "<i>")],
    )
    tags = Page(page).tags
    assert [tag for tag, _ in tags].count("script") == 1
    assert not any(tag in ("img", "b", "i") for tag, _ in tags)
    assert not any("onclick" in attributes for _, attributes in tags)


def test_the_command_shown_is_of_a_path_that_is_there(folder):
    for place in (folder, folder / "deep"):
        page = html.unescape(re.sub("</?span[^>]*>", "", portfolio.write(place)[0].read_text("utf-8")))
        (command,) = re.findall(r"<code>verifiable-dp (verify .*?) --rerun</code>", page)
        with contextlib.chdir(place):
            done = CliRunner().invoke(main, shlex.split(command))
        assert (done.exit_code, done.stderr) == (0, "")
    assert "'other name: 2.json'" in html.unescape((folder / "index.html").read_text("utf-8"))


def test_copies_of_a_record_are_said_to_be_the_same(folder):
    assert "the same record" not in portfolio.write(folder)[0].read_text("utf-8")
    (folder / "zz").mkdir()
    shutil.copy(folder / "dp-ucb" / "record.json", folder / "zz" / "again.json")
    other = record("dp-ucb")
    other["provenance"]["command"] = "another run"
    other["digest"] = digest(other)
    (folder / "zz" / "run.json").write_text(text(other), "utf-8")
    page = re.sub("</?bdi>", "", portfolio.write(folder)[0].read_text("utf-8"))
    assert re.findall(r"[^>]*the same record as[^<]*", page) == [
        "zz/again.json: the same record as dp-ucb/record.json"
    ]
    assert "5 records (1 is a copy of another), 1 of them about algorithms exactly as printed" in page


@pytest.mark.slow
def test_the_index_of_the_committed_records_is_a_portfolio():
    found = portfolio.find(REPORTS)
    rows = Page(portfolio.page(found, REPORTS / "index.html", own=True)).rows
    assert len(rows) == len(list(REPORTS.glob("*/record.json")))


# ---------------------------------------------------------------- hostile folders


def linked(page):
    return Page(page.read_text("utf-8")).links


def test_only_its_own_pages_are_linked(tmp_path):
    """A page beside a record may say and do anything; it is linked if it is the page of this record."""
    report = Report(small())
    report.save(tmp_path)
    assert "record.html" in linked(portfolio.write(tmp_path)[0])
    right = (tmp_path / "record.html").read_text("utf-8")
    for wrong in (
        "<h1>Proved private</h1>",
        right.replace("not refuted", "proved", 1),
        right + "<script></script>",
    ):
        (tmp_path / "record.html").write_text(wrong, "utf-8")
        found = linked(portfolio.write(tmp_path)[0])
        assert "record.json" in found
        assert "record.html" not in found


def test_no_link_leads_out_of_the_folder(tmp_path):
    """A link to a file elsewhere, a page that is one, and a study whose name is a path."""
    outside, place = tmp_path / "outside", tmp_path / "folder"
    Report(small()).save(outside)
    place.mkdir()
    (place / "record.json").symlink_to(outside / "record.json")
    found = portfolio.find(place)
    assert not found.records
    assert (
        "it is a link out of the folder, and we do not follow such links"
        in found.broken[place / "record.json"]
    )
    (place / "record.json").unlink()
    shutil.copy(outside / "record.json", place)
    (place / "record.html").symlink_to(outside / "record.html")
    assert "record.html" not in linked(portfolio.write(place)[0])
    study = json.loads((REPORTS / "studies" / "S3" / "study.json").read_text("utf-8"))
    (place / "studies" / "X").mkdir(parents=True)
    hostile = {**study, "study": "../../../outside/record.html?"}
    hostile["digest"] = digest(hostile)
    (place / "studies" / "X" / "study.json").write_text(text(hostile), "utf-8")
    page, found = portfolio.write(place)
    assert "does not fit the schema" in found.broken[place / "studies" / "X" / "study.json"]
    assert not any(".." in link for link in linked(page))


def test_a_folder_and_a_file_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    """Whoever runs it may not be allowed to; control: nothing is named where all can be read."""
    shutil.copytree(REPORTS / "tree-sum", tmp_path / "tree-sum")
    shutil.copytree(REPORTS / "tree-sum", tmp_path / "closed")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "record.json").write_text("{}", "utf-8")
    scandir, opened = os.scandir, portfolio.files.opened

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    def looked(path):
        return refused(path) if str(path).endswith("closed") else scandir(path)

    monkeypatch.setattr(os, "scandir", looked)
    monkeypatch.setattr(
        portfolio.files,
        "opened",
        lambda what, path: refused(path) if "locked" in str(path) else opened(what, path),
    )
    found = portfolio.find(tmp_path)
    assert [path.parent.name for path in found.records] == ["tree-sum"]
    assert {path.relative_to(tmp_path).as_posix(): why for path, why in found.broken.items()} == {
        "closed": "the folder cannot be read: Permission denied",
        "locked/record.json": f"record: {str(tmp_path / 'locked' / 'record.json')!r} cannot be read: "
        "Permission denied",
    }
    page = portfolio.page(found, tmp_path / "index.html")
    assert "the folder cannot be read" in page
    monkeypatch.undo()
    assert "closed" not in {path.name for path in portfolio.find(tmp_path).broken}
