"""Tables of a page: a few rows first, all as CSV, cards on a phone, scrolled by keys; whole numbers."""

from __future__ import annotations

import csv
import html
import io
import itertools
import re
from collections.abc import Sequence
from urllib.parse import quote

FIRST = 5  # rows that are shown before the others
_CARDS = 5  # columns from which rows are cards on a phone; style.css labels up to 19
_SHORT = {4: 60, 3: 90}  # characters of a row of so few columns that is none
_TOKEN = re.compile(
    r'<details[^>]*>|</details>|<div class="scroll"[^>]*>\s*<table.*?</table>\s*</div>', re.DOTALL
)
_PLAIN = re.compile(r'<table(?: class="(fixed)")?>')
_ROW = re.compile(r"<tr[^>]*>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[dh])\b[^>]*>(.*?)</\1>", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|∞)", re.IGNORECASE)
# Tags and what is not text of the page; then a name with sign and value, a number with a
# hyphen, a percent sign or a margin, or an option of a command.
_WHOLE = re.compile(
    r"<(style|script|svg|pre|title|select)\b.*?</\1>|<[^>]*>|"
    r"(?<![^\s(>])(?P<whole>\(?\w[\w./^-]* (?:=|&[gl]t;=) [^\s<]{1,24}(?=[\s<])|"
    r"[-+(\[]*\d[\d.]*(?:e?-\d[\d.]*)+[^\s<]{0,12}(?=[\s<])|"
    r"\(?\d[\d.]*(?:e[+-]?\d+)? (?:%|± [\d.]+)[:;,.)]*|\(?--[a-z][a-z-]*[:;,.)]*)",
    re.DOTALL,
)
_FORMULA = tuple("=+-@\t\r＝＋－＠")  # what a spreadsheet computes where a cell begins with it


def as_csv(rows: Sequence[Sequence[str]]) -> str:
    """Rows as CSV that a spreadsheet shows and does not compute: an apostrophe stands before a formula."""
    out = io.StringIO()
    csv.writer(out).writerows([[_harmless(cell) for cell in row] for row in rows])
    return out.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell


def arranged(page: str, *, whole: bool = False) -> str:
    """A page whose tables are arranged: what a record says in it is escaped, so that all tags are ours.

    Parameters
    ----------
    page
        HTML; its tables stand in ``<div class="scroll">``.
    whole
        Whether every row is shown. Otherwise those after the first are folded, and a link holds all as CSV.
    """
    folds: list[bool] = []  # around the place, and whether each is closed
    numbers = itertools.count(1)

    def replaced(found: re.Match[str]) -> str:
        if found[0].startswith("<details"):
            folds.append("open" not in found[0])
        elif found[0] == "</details>":
            folds.pop()
        else:
            return _arranged(found[0], "" if whole else f"table-{next(numbers)}.csv", folded=any(folds))
        return found[0]

    return _unbroken(_TOKEN.sub(replaced, page))


def _unbroken(page: str) -> str:
    """A page on which no line ends within a number, an option, or a name with sign and value."""
    return _WHOLE.sub(
        lambda found: f'<span class="whole">{found["whole"]}</span>' if found["whole"] else found[0], page
    )


def _arranged(block: str, name: str, *, folded: bool) -> str:
    caption = re.search(r"<caption>(.*?)</caption>", block, re.DOTALL)
    label = _text(caption[1]).replace('"', "&#34;") if caption else ""
    if label and "role=" not in block.partition(">")[0]:
        block = block.replace(
            'class="scroll"', f'class="scroll" role="group" tabindex="0" aria-label="{label}"', 1
        )
    heads = re.search(r"<thead[^>]*>(.*?)</thead>", block, re.DOTALL)
    body = re.search(r"<tbody[^>]*>(.*?)</tbody>", block, re.DOTALL)
    if heads is None or body is None:
        return block
    titles, rows = _cells(heads[1]), _ROW.findall(body[1])
    longest = max((sum(map(len, _cells(row))) for row in rows), default=0)
    plain = _PLAIN.search(block)
    if plain and (len(titles) >= _CARDS or longest > _SHORT.get(len(titles), longest)):
        labels = ";".join(f"--h{i}:{_quoted(title)}" for i, title in enumerate(titles, 1))
        named = " ".join(filter(None, ("cards", plain[1])))
        block = block.replace(plain[0], f'<table class="{named}" style="{labels}">', 1)
        body = re.search(r"<tbody[^>]*>(.*?)</tbody>", block, re.DOTALL)
    if not name or body is None or len(rows) <= FIRST or 'class="hazards"' in block:
        return block
    held = quote(as_csv([titles, *(_cells(row) for row in rows)]), safe=",:;()/")
    link = f'<a download="{name}" href="data:text/csv;charset=utf-8,{held}">all as CSV</a>'
    if folded:
        return f'{block}\n<p class="more">{len(rows)} rows, {link}</p>'
    before, after = block[: body.start(1)], block[body.end(1) :]
    rest = before.replace("</caption>", ", continued</caption>", 1).replace(
        f'"{label}"', f'"{label}, continued"', 1
    )
    others = f"The other {len(rows) - FIRST} rows" if len(rows) > FIRST + 1 else "The other row"
    return (
        f"{before}{''.join(rows[:FIRST])}{after}\n"
        f'<p class="more">{FIRST} of {len(rows)} rows, {link}</p>\n'
        f"<details><summary>{others}</summary>\n{rest}{''.join(rows[FIRST:])}{after}\n</details>"
    )


def _cells(row: str) -> list[str]:
    return [html.unescape(_text(cell)) for _, cell in _CELL.findall(row)]


def _text(shown: str) -> str:
    """What is read of HTML, still escaped."""
    return " ".join(re.sub(r"<[^>]*>", "", shown.replace("<br>", " ")).split())


def _quoted(said: str) -> str:
    """A string of CSS within an attribute."""
    return "'" + re.sub(r"[^\w .,:/()%-]", lambda found: f"\\{ord(found[0]):x} ", said) + "'"
