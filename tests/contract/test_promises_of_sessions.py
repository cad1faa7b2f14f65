"""docs/live-sessions.md: each promise names a test, and the test exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "live-sessions.md"


def promises(page):
    """Fault and test of each row of the table of faults."""
    table = page.partition("| failure | what we promise | test |\n|---|---|---|\n")[2].partition("\n\n")[0]
    return [tuple(cell.strip() for cell in row.strip("|").split(" | ")) for row in table.splitlines()]


def named(cell):
    """File and name of a test; None if a cell names none that exists."""
    found = re.fullmatch(r"`([\w/]+\.py)::(test_\w+)`", cell)
    if not found:
        return None
    path = ROOT / (found[1] if "/" in found[1] else f"tests/unit/core/{found[1]}")
    if not path.is_file():
        return None
    names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    return (path, found[2]) if names.count(found[2]) == 1 else None


ROWS = promises(PAGE.read_text())


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_each_promise_names_a_test(row):
    assert len(row) == 3
    assert named(row[2])


def test_each_promise_has_a_test_of_its_own():
    assert len(ROWS) >= 30
    assert len({row[2] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "`test_rights.py`",
        "`test_rights.py::test_nobody`",
        "`test_none.py::test_links_are_refused`",
        "soon",
    ],
)
def test_a_test_that_is_not_there_is_noticed(cell):
    """Negative control."""
    assert named(cell) is None
    assert named("`test_rights.py::test_links_are_refused`")
