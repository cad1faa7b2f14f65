"""Tests that wait for the night (`make test-all`), and those of their cases that run by day.

A test stands here when it takes more than what it finds beyond its siblings by day is worth; `make faults`
shows that the faults seeded in the source are found without it. A key is a test function, its value the ids
of the cases that stay by day: none means that the whole function waits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

NIGHT: dict[str, tuple[str, ...]] = {}


def wait(items: Sequence[pytest.Item], named: bool) -> None:
    """Mark as slow what waits for the night.

    Parameters
    ----------
    items
        All that were collected.
    named
        Whether tests or cases were named, so that others of their file were not collected.

    Raises
    ------
    pytest.UsageError
        If the table speaks of tests or cases that do not exist.
    """
    cases: dict[str, dict[str, pytest.Item]] = defaultdict(dict)
    for item in items:
        function, _, case = item.nodeid.removeprefix("tests/").partition("[")
        cases[function][case.removesuffix("]")] = item
    files = {function.partition("::")[0] for function in cases}
    for function, by_day in NIGHT.items():
        found = cases.get(function, {})
        if function.partition("::")[0] in files and not named and (not found or not set(by_day) < set(found)):
            raise pytest.UsageError(
                f"tests/night.py: {function} is not there, or has no such cases by day and more"
            )
        for case, item in found.items():
            if case not in by_day:
                item.add_marker("slow")
