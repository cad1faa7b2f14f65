"""Tables of a page: five rows and all as CSV, cards on a phone, and no cell that a spreadsheet computes."""

import csv
import html
import io
import json
import re
from urllib.parse import unquote

import pytest

from tests.committed import REPORTS
from verifiable_dp.record.model import Record
from verifiable_dp.render import sidecars, tables
from verifiable_dp.render.page import render

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
