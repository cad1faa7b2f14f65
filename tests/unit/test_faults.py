"""The list of seeded faults does not rot: every fault still applies, and the table is that of the list.

Whether the tests notice them is tried by `make faults`, which takes longer.
"""

import re

import pytest

from tests.faults import FAULTS, LEAST, ROOT, TABLE, Fault, Outcome, _caught_by, table


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_applies_to_the_source(fault):
    text = (ROOT / fault.file).read_text()
    edited = fault.edited(text)
    assert edited != text
    if fault.file.endswith(".py"):
        compile(edited, fault.file, "exec")
    for test in fault.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), test
        assert not name or f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(), test


def test_there_are_enough_and_none_stands_twice():
    assert len(FAULTS) >= 60
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.file, fault.before, fault.after) for fault in FAULTS}) == len(FAULTS)
    assert len({fault.file for fault in FAULTS}) >= 30


def test_a_fault_that_does_not_apply_is_named():
    fault = Fault("it", "file.py", "x = 1", "x = 2", "", ())
    assert fault.edited("x = 1\n") == "x = 2\n"
    for text in ("x = 3\n", "x = 1\nx = 1\n"):
        with pytest.raises(ValueError, match=r"fault it: its text stands [02] times in file\.py"):
            fault.edited(text)


@pytest.mark.parametrize(
    ("status", "printed", "caught"),
    [
        (0, "12 passed", ""),
        (1, "FAILED tests/a.py::test_b[x - y] - assert 1 == 2\n1 failed", "tests/a.py::test_b[x - y]"),
        (2, "ERROR tests/a.py - InputError: no\n1 error", "tests/a.py"),
    ],
)
def test_what_pytest_says_is_read(status, printed, caught):
    assert _caught_by(status, printed, FAULTS[0]) == caught


@pytest.mark.parametrize(("status", "printed"), [(4, "no such file"), (5, "no tests ran"), (1, "crashed")])
def test_tests_that_do_not_run_catch_nothing(status, printed):
    """A node id that is gone, or that the fast suite deselects, must not count as a catch."""
    with pytest.raises(RuntimeError, match="the tests do not run"):
        _caught_by(status, printed, FAULTS[0])


def test_the_committed_table_is_that_of_the_list():
    """Made by `make faults`; most of the faults are caught."""
    text = TABLE.read_text()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()[9:]]
    assert rows == [fault.name for fault in FAULTS]
    caught, whole = map(int, re.search(r"Caught: (\d+) of (\d+)\.", text).groups())
    assert whole == len(FAULTS)
    assert caught == whole - text.count("**survived**")
    assert caught >= LEAST * whole
    again = table([Outcome(fault, "tests/a.py::b", 1.0) for fault in FAULTS])
    assert again.splitlines()[:5] == text.splitlines()[:5]
