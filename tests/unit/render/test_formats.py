"""Tables, and the formats of others in which a record is shown."""

import copy
import csv
import functools
import hashlib
import html
import io
import json
import re
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1.statement_pb2 import Statement

import verifiable_dp as vdp
from tests import formats, small_records, visible
from tests.commands import refused, run
from tests.committed import REPORTS
from tests.formats import NotOfTheFormatError
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import text
from verifiable_dp.render import renderings, sidecars, tables
from verifiable_dp.render.annotations import to_github
from verifiable_dp.render.findings import told
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.page import render
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.render.slsa import to_slsa
from verifiable_dp.report import Report

# Tables of a page: five rows and all as CSV, cards on a phone, and no cell that a spreadsheet computes.


DATA = re.compile(r'<a download="table-(\d+)\.csv" href="data:text/csv;charset=utf-8,([^"]*)">all as CSV</a>')
FOLDED = re.compile(r"<details(?![^>]*\bopen)[^>]*>(?:(?!<details).)*?</details>", re.DOTALL)


def page_of(rows, head="<tr><th>A</th><th>B</th></tr>"):
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows)
    table = f"<table><caption>Said</caption><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<p>before</p><div class="scroll">{table}</div><p>after</p>'


def held(page):
    """Rows of every CSV of a page."""
    return [list(csv.reader(io.StringIO(unquote(data)))) for _, data in DATA.findall(page)]


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("=HYPERLINK(1)", False),
        ("+cmd|' /C calc'!A0", False),
        ("-2+3", False),
        ("@SUM(A1)", False),
        ("＝1+1", False),
        ("-1 to 2", False),
        ("-0.25", True),
        ("+1.5e-07", True),
        ("-∞", True),
        ("a = b", True),
        ('say "x", y', True),
        ("", True),
    ],
)
def test_no_cell_is_computed_by_a_spreadsheet(cell, kept):
    """Control: numbers stay numbers."""
    ((found,),) = csv.reader(io.StringIO(tables.as_csv([[cell or " "]])))
    assert found == ((cell or " ") if kept else f"'{cell}")
    shown = page_of([["x", cell]] * 6)
    assert all(row[1] == (cell if kept else f"'{cell}") for row in held(tables.arranged(shown))[0][1:])


@pytest.mark.parametrize("n", [5, 6, 9])
def test_five_rows_come_first_and_all_are_kept(n):
    rows = [[f"<i>{i}</i> & co", f"v{i}"] for i in range(n)]
    made = tables.arranged(page_of(rows))
    first = FOLDED.sub("", made)
    assert first.count("<td>v") == min(n, 5)
    assert [f"<td>v{i}</td>" in made for i in range(n)] == [True] * n
    assert made.count("<td>v") == n  # none is there twice
    assert held(made) == ([] if n == 5 else [[["A", "B"], *rows]])
    assert ("all as CSV" in made, "The other" in made) == (n > 5, n > 5)
    assert made.count('tabindex="0" aria-label="Said') == made.count("<table>")
    assert tables.arranged(page_of(rows), whole=True).count("<details") == 0


def test_a_table_that_is_folded_already_is_not_folded_twice():
    inside = f"<details><summary>s</summary>{page_of([['a', 'b']] * 7)}</details>"
    made = tables.arranged(
        f'<details open=""><summary>o</summary></details>{inside}{page_of([["c", "d"]] * 7)}'
    )
    assert made.count("The other 2 rows") == 1
    assert len(held(made)) == 2
    assert {number for number, _ in DATA.findall(made)} == {"1", "2"}


def test_cards_name_their_columns_whatever_they_are_called():
    """A head cannot end the string of the style that it stands in, nor the attribute."""
    heads = ["plain", "it's \"}; x", "</style>", "a\\b", "e"]
    row = "".join(f"<th>{html.escape(head)}</th>" for head in heads)
    made = tables.arranged(page_of([["1", "2", "3", "4", "5"]], f"<tr>{row}</tr>"))
    (style,) = re.findall(r'<table class="cards" style="([^"]*)">', made)
    strings = re.findall(r"--h\d:'([^']*)'", style)
    assert [re.sub(r"\\([0-9a-f]+) ", lambda m: chr(int(m[1], 16)), said) for said in strings] == heads
    assert "cards" not in tables.arranged(page_of([["1", "2"]]))  # it fits
    sheet = (REPORTS.parent / "verifiable_dp/render/templates/style.css").read_text("utf-8")
    assert all(f"td:nth-child({i})::before {{ content: var(--h{i}); }}" in sheet for i in range(1, 20))


@pytest.mark.parametrize(
    ("columns", "long", "card"),
    [(2, 99, False), (3, 20, False), (3, 99, True), (4, 50, False), (4, 70, True), (5, 5, True)],
)
def test_a_row_of_words_is_a_card_from_three_columns(columns, long, card):
    """Else its last column lies beyond the edge of a phone. Control: what is short stays a table."""
    heads = "".join(f"<th>{i}</th>" for i in range(columns))
    row = ["x" * (long - columns + 1)] + ["x"] * (columns - 1)
    assert ('class="cards"' in tables.arranged(page_of([row], f"<tr>{heads}</tr>"))) is card


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("holds at 95 % here", "95 %"),
        ("so (95 %: 2 to 3)", "(95 %:"),
        ("claimed 0.5714 ± 0.03 at most", "0.5714 ± 0.03"),
        ("about 1e+06 ± 2, then", "1e+06 ± 2,"),
        ("run it (verify --rerun), then", "--rerun),"),
        ("or --to-json FILE", "--to-json"),
        ("a<code>verify --key</code>", "--key"),
        ("5 of 6 -- and x-y", None),
        ("a 5 and % b", None),
    ],
)
def test_no_line_ends_within_a_share_a_margin_or_an_option(said, kept):
    """Control: other words may be parted."""
    found = re.findall(r'<span class="whole">([^<]*)</span>', tables.arranged(f"<p>{said}</p>"))
    assert found == ([kept] if kept else [])


def words_before_folds(page):
    shown = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    while (less := FOLDED.sub(" ", shown)) != shown:
        shown = less
    return len(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def test_the_longest_page_is_read_in_some_minutes():
    """Control: with all its folds open it would be three times as long."""
    path = REPORTS / "dp-robust-elimination" / "record.json"
    record = json.loads(path.read_text("utf-8"))
    page = render(
        Record.of(record), drawn=False, around=sidecars.of(path, Record.of(record), path.with_suffix(".html"))
    )
    assert words_before_folds(page) <= 2500 < words_before_folds(page.replace("<details", "<div"))
    whole = [c["name"] for c in record["regret"]["checks"] if c["kind"] == "mean_bound"]
    (means,) = (rows for rows in held(page) if "Bound" in rows[0])
    assert [row[0] for row in means[1:]] == whole


def test_four_columns_are_cards_where_their_rows_are_long():
    short, long = (
        [["1", "2", "3", "4"]],
        [["a check of this", "its kind", "1.5 (95 %: 1.4 to 1.6), claimed 1 to 2 times", "v"]],
    )
    heads = "<tr><th>A</th><th>B</th><th>C</th><th>D</th></tr>"
    assert 'class="cards"' not in tables.arranged(page_of(short, heads))
    assert 'class="cards"' in tables.arranged(page_of(long, heads))
    laid_out = page_of(long, heads).replace("<table>", '<table class="fixed">')
    assert 'class="cards fixed"' in tables.arranged(laid_out)


def test_one_row_more_is_the_other_row():
    made = tables.arranged(page_of([["a", "b"]] * 6))
    assert "<summary>The other row</summary>" in made
    assert "The other 1" not in made


def test_no_line_ends_within_a_number_or_between_a_name_and_its_value():
    """Control: words with hyphens, tags, styles and pictures stay as they are."""
    kept = '<a title="x = 1e-06">per-arm</a><style>a = 1e-06 </style><svg><text>1e-06</text></svg> NIST-H03 '
    assert tables.arranged(kept) == kept
    for said in ("arms = 2,", "epsilon &gt;= 10.69", "1e-06", "(2023-12-31)", "-3.2e-05;", "[1e-06,"):
        assert tables.arranged(f"<p>It has {said} and more</p>") == (
            f'<p>It has <span class="whole">{said}</span> and more</p>'
        )
    long = f"<p>name = {'x' * 40}</p>"
    assert tables.arranged(long) == long


# Findings as commands of GitHub's workflows: one line each, which no text of a record can end or begin.


COMMAND = re.compile(r"::(error|warning|notice) (?:file=[^:,\n]+,(?:line=\d+,)?)?title=DP\d{3}::[^\n]+\n")


@pytest.mark.parametrize("name", ["dp-linear-printed", "dp-nas", "dp-se", "ucb1"])
def test_there_is_a_command_for_each_finding(name):
    record = Report.load(REPORTS / name / "record.json").parsed
    shown = to_github(record)
    assert len(COMMAND.findall(shown)) == len(told(record)) == shown.count("\n")
    assert (name in ("dp-linear-printed", "dp-nas")) == bool(shown)  # a baseline has none to act on


@pytest.mark.parametrize(
    "text", ["a\n::error::b", "a::b,title=x", "100%0A::error::b", "\r::stop-commands::x"]
)
def test_no_text_of_a_record_makes_a_command(text):
    """In its name and in the path of its file. Control: the harmless name has as many commands."""
    record = Record.of(small_records.refuted())
    source = msgspec.structs.replace(record.target.source, path=text)
    hostile = msgspec.structs.replace(
        record, target=msgspec.structs.replace(record.target, name=text, source=source)
    )
    shown, plain = to_github(hostile), to_github(record)
    assert len(COMMAND.findall(shown)) == len(COMMAND.findall(plain)) == shown.count("\n") > 0
    assert "%0A" not in shown.replace("%250A", "")


# SLSA provenance of a record: read by the protocol of its package, and held against the request.


@pytest.fixture(scope="module")
def record():
    return vdp.audit("nas", budget="smoke", mutants=False).record


def read(document):
    """The predicate, read without unknown fields."""
    statement = json.loads(document)
    json_format.ParseDict(statement, Statement())
    return json_format.ParseDict(statement["predicate"], Provenance())


def test_the_subject_is_the_file_and_the_parameters_are_what_was_asked(record, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(text(record), "utf-8")
    document = renderings.render(path, "slsa", url="https://ci.example/7").decode()
    statement, predicate = json.loads(document), read(document)
    assert statement["subject"] == [
        {"name": "r.json", "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    ]
    asked, made = record["provenance"]["request"], statement["predicate"]["buildDefinition"]
    for name in ("question", "target", "claim", "inputs", "plan", "level", "seed", "declarations"):
        assert made["externalParameters"][name] == asked[name]
    tool = predicate.build_definition.resolved_dependencies[-1]
    assert tool.digest["sha256"] == asked["code"]
    assert predicate.run_details.metadata.invocation_id == "https://ci.example/7"
    assert predicate.run_details.metadata.started_on.ToJsonString() == record["provenance"]["started"]


def test_files_of_your_own_code_are_dependencies(record):
    other = copy.deepcopy(record)
    other["provenance"]["request"]["target"]["files"] = {"a.py": "0" * 64}
    found = read(to_slsa(Record.of(other))).build_definition.resolved_dependencies
    assert [one.uri for one in found][:-1] == ["file:a.py"]


def test_a_reader_of_the_protocol_refuses_other_fields(record):
    """The control of `read`."""
    statement = json.loads(to_slsa(Record.of(record)))
    statement["predicate"]["more"] = 1
    with pytest.raises(json_format.ParseError):
        read(json.dumps(statement))


def test_a_record_without_a_request_has_no_provenance(record):
    old = copy.deepcopy(record)
    del old["provenance"]["request"]
    with pytest.raises(InputError, match="to: slsa needs a record that contains its request"):
        to_slsa(Record.of(old))


# The checks of `tests.formats` refuse what is not of the format.


ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def refuted():
    """A record with findings, failures and a counterexample."""
    return json.loads((ROOT / "reports" / "dp-linear-printed" / "record.json").read_text("utf-8"))


def test_the_schemas_are_the_published_ones():
    found = formats.recorded_digests()
    kept = {path.name for path in formats.SCHEMAS.iterdir()} - {"README.md", "LICENSE.schemastore"}
    assert set(found) == kept == {"sarif-2.1.0-rtm.5.json", "junit-10.xsd"}
    assert {name: formats.digest(name) for name in kept} == found


def first_result(log):
    return log["runs"][0]["results"][0]


def place(log):
    return first_result(log)["locations"][0]["physicalLocation"]


BREAK_SARIF = {
    "version": lambda log: log.update(version="2.0.0"),
    "no runs": lambda log: log.pop("runs"),
    "unknown key": lambda log: log["runs"][0].update(digest="x"),
    "no name": lambda log: log["runs"][0]["tool"]["driver"].pop("name"),
    "no message": lambda log: first_result(log).pop("message"),
    "message is a string": lambda log: first_result(log).update(message="refuted"),
    "level": lambda log: first_result(log).update(level="fatal"),
    "line 0": lambda log: place(log)["region"].update(startLine=0),
    "line is a string": lambda log: place(log)["region"].update(startLine="7"),
    "space in the address": lambda log: place(log)["artifactLocation"].update(uri="my code.py"),
    "rule unknown": lambda log: first_result(log).update(ruleId="unheard-of"),
    "rule twice": lambda log: log["runs"][0]["tool"]["driver"]["rules"].append({"id": "DP100"}),
}


@pytest.mark.parametrize("how", BREAK_SARIF)
def test_broken_sarif_is_refused(how, refuted):
    log = formats.sarif(to_sarif(Record.of(refuted)))
    BREAK_SARIF[how](log)
    with pytest.raises(NotOfTheFormatError):
        formats.sarif(json.dumps(log))


BREAK_JUNIT = {
    "root": ("testsuites", "suites"),
    "unknown attribute": ("<testcase ", '<testcase verdict="refuted" '),
    "skipped at the root": ("<testsuites ", '<testsuites skipped="1" '),
    "no name": ('name="verdict" ', ""),
    "time": (' time="', ' time="long: '),
    "unknown element": ("<failure ", "<details /><failure "),
    "not counted": (' failures="2"', ""),
}


@pytest.mark.parametrize("how", BREAK_JUNIT)
def test_broken_junit_is_refused(how, refuted):
    document = to_junit(Record.of(refuted))
    assert formats.junit(document).tag == "testsuites"
    broken = document.replace(*BREAK_JUNIT[how])
    assert broken != document
    with pytest.raises(NotOfTheFormatError):
        formats.junit(broken)


BREAK_INTOTO = {
    "type": lambda s: s.update(_type="https://in-toto.io/Statement/v0.1"),
    "no subject": lambda s: s.update(subject=[]),
    "subject without digest": lambda s: s["subject"][0].pop("digest"),
    "no predicate type": lambda s: s.pop("predicateType"),
    "unknown key": lambda s: s.update(signature="x"),
    "unknown key of the predicate": lambda s: s["predicate"].update(tests=[]),
    "result": lambda s: s["predicate"].update(result="refuted"),
    "tests are no list": lambda s: s["predicate"].update(passedTests="all"),
    "descriptor of nothing": lambda s: s["predicate"]["configuration"].append({"mediaType": "text/plain"}),
    "content is not Base64": lambda s: s["predicate"]["configuration"][1].update(content="A"),
    "digest": lambda s: s["subject"][0]["digest"].update(sha256="sha256:00"),
}


@pytest.mark.parametrize("how", BREAK_INTOTO)
def test_a_broken_statement_is_refused(how, refuted):
    statement = formats.intoto(to_intoto(Record.of(refuted)))
    BREAK_INTOTO[how](statement)
    with pytest.raises(NotOfTheFormatError):
        formats.intoto(json.dumps(statement))


# The first screen of a page holds the answers to the questions of tests/reading.md.


READING = (Path(__file__).parents[2] / "reading.md").read_text("utf-8")
QUESTIONS = re.findall(r"^\d\. (.*\?)$", READING, re.MULTILINE)
ANSWERS = {
    name: [answer.split("; ") for answer in re.findall(r"^\d\. (.*)$", said, re.MULTILINE)]
    for name, said in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", READING, re.MULTILINE | re.DOTALL)
}
_MOST = 150  # words


@functools.cache
def first_screen(name):
    """What is read of the card, from the verdict to what to do next."""
    path = REPORTS / name / "record.json"
    record = json.loads(path.read_text("utf-8"))
    page = render(Record.of(record), drawn=False, around=sidecars.of(path, Record.of(record)))
    return " ".join(visible.first_screen(page))


def missing(name, answers):
    """Words of right answers that are not on the first screen, without regard to case."""
    shown = first_screen(name).lower()
    return [words for answer in answers for words in answer if words.lower() not in shown]


def test_there_are_enough_pages_of_every_kind():
    assert len(QUESTIONS) == 6
    assert len(ANSWERS) >= 8
    assert all(len(answers) == len(QUESTIONS) for answers in ANSWERS.values())


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_screen_answers_every_question(name):
    assert missing(name, ANSWERS[name]) == []
    assert len(re.findall(r"\S*\w\S*", first_screen(name))) <= _MOST


@pytest.mark.parametrize(
    ("shown", "asked"),
    [("dp-se", "dp-nas"), ("dp-nas", "dp-se"), ("dp-se", "ucb1"), ("ldp-linear", "dp-linear-printed")],
)
def test_the_answers_of_another_page_are_missed(shown, asked):
    """Control: pages that differ in promise, verdict or strength do not answer for each other."""
    found = [bool(missing(shown, [answer])) for answer in ANSWERS[asked]]
    assert sum(found) >= 3
    assert found[2]  # strength


# Without `--to`, the name of the file says the form.


@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.html", "<!doctype html>"), ("r.MD", "# "), ("r.sarif", "{"), ("r.xml", "<?xml"), ("r.yaml", "")],
)
def test_the_name_of_a_file_says_its_form(name, begins, tmp_path):
    record = REPORTS / "tree-sum" / "record.json"
    done = run(tmp_path, "render", record, "--out", name)
    assert done.exit_code == 0, done.stderr
    form = renderings.form_of(Path(name))
    assert (tmp_path / name).read_bytes() == renderings.render(record, form, out=tmp_path / name)
    assert (tmp_path / name).read_text("utf-8").lower().startswith(begins)


def test_without_a_form_the_forms_are_named(tmp_path):
    record = REPORTS / "tree-sum" / "record.json"
    said = refused(tmp_path, "render", record)
    assert "--to must be one of compliance, dpia, github, html, " in said
    assert "or name a file such as --out record.html" in said
    assert "--to must be one of compliance, " in refused(tmp_path, "render", record, "--out", "r.json")
