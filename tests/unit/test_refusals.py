"""Every refusal of the rooms that decide has a test that makes it happen: `tests/refusals.py`."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import coverage
import pytest

from tests import refusals
from tests.line_tests import _LEFT

MOST_LEFT = 0  # without a fast test


def test_every_refusal_has_a_test_or_stands_in_the_list_with_a_reason():
    names = [one.name for one in refusals.refusals()]
    ran, said, left = refusals.table(), refusals.table("words"), refusals.left()
    assert len(names) == len(set(names)) > 190
    missing = [name for name in names if name not in {*ran, *said, *left}]
    assert not missing, f"make them happen, or run python -m tests.refusals: {missing}"
    gone = [name for name in {*ran, *said, *left} if name not in names]
    assert not gone, f"these are no refusals any more: {gone}"
    assert not {*ran, *said} & {*left}
    assert len(left) <= MOST_LEFT
    assert len(ran) >= len(names) / 2


def test_the_tests_of_the_table_are_there():
    tests = [*refusals.table().values(), *refusals.table("words").values()]
    assert tests
    assert [test for test in tests if not refusals.defined(test)] == []
    assert not refusals.defined("tests/unit/test_refusals.py::test_that_is_not_there")
    assert not refusals.defined("tests/unit/no_such_file.py")


def test_what_holds_words_of_a_message_says_them():
    said = [one for one in refusals.refusals() if one.name in refusals.table("words")]
    assert len(said) < 60
    assert [one.name for one in said if not refusals.named(one)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    raise E("must be a number")', ["f: must be a number"]),
        ('class C:\n    def m(self):\n        raise E(f"got {x}, not {y}")', ["C.m: got , not"]),
        ("def f():\n    raise Finished", ["f: raise Finished"]),
        ("def f(self, node):\n    self.tell(node, 'calls itself')", ["f: calls itself"]),
        ("def f(self, node):\n    self.picks(node, TURNS)", ["f: self.picks(node, TURNS)"]),
        ("def f(self, node, words):\n    self.tell(node, words)", []),  # hands it on
        ("def f(error):\n    raise error", []),
        ("def f():\n    raise", []),
        ("def f():\n    raise NotImplementedError", []),
    ],
)
def test_what_is_a_refusal(source, found):
    places = refusals._places(ast.parse(source))
    assert [f"{scope}: {refusals._words(node)}" for scope, node in places] == found


@pytest.mark.slow
def test_the_tests_of_the_table_make_the_refusals_happen(tmp_path):
    """Run with the lines recorded: each refusal's line runs in its own test."""
    table, place = refusals.table(), tmp_path / "seen.files"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.line_tests"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *sorted(set(table.values()))],
        cwd=refusals.ROOT,
        env={**os.environ, _LEFT: f"{place}:3600"},
        check=True,
        capture_output=True,
    )
    data = coverage.CoverageData(str(place.with_suffix(".lines")))
    data.read()
    missed = []
    for one in refusals.refusals():
        if one.name in table:
            lines = data.contexts_by_lineno(str(Path(refusals.modules()[one.module]).resolve()))
            seen = {test for line in range(one.first, one.last + 1) for test in lines.get(line, ())}
            if table[one.name] not in seen:
                missed.append(one.name)
    assert missed == []
