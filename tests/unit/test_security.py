"""The table of attacks in SECURITY.md names tests that there are, and that run by day."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Attacks, and what is done")[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TABLE.splitlines()
    if line.startswith("| ") and not line.startswith("| attack")
]


def problems(rows):
    """What is wrong with rows of the table."""
    found = []
    for row in rows:
        attack, done, _, tests = row
        named = re.findall(r"`([\w/.]+)::(\w+)`", tests)
        if not (attack and done and named):
            found.append(f"{attack!r} says not what is done, or names no test")
        for file, name in named:
            path = ROOT / "tests" / file
            defined = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
            tree = {part.name: part for part in defined if isinstance(part, ast.FunctionDef)}
            if name not in tree:
                found.append(f"{file}::{name} does not exist")
            elif any("mark.slow" in ast.unparse(mark) for mark in tree[name].decorator_list):
                found.append(f"{file}::{name} is run at night only")
    return found


def test_every_row_names_its_tests():
    assert len(ROWS) >= 16
    assert all(len(row) == 4 for row in ROWS)
    assert problems(ROWS) == []


def test_a_test_that_is_gone_is_noticed():
    gone = [["a", "b", "", "`unit/test_security.py::test_gone`"], ["a", "b", "", "`unit/none.py::test_x`"]]
    assert len(problems([*gone, ["a", "b", "", ""]])) == 3
    assert problems([["a", "b", "", "`unit/test_security.py::test_a_test_that_is_gone_is_noticed`"]]) == []
