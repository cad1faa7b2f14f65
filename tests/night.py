"""Tests that wait for the night (`make test-all`): `night.txt` lists them, and this writes the list.

    .venv/bin/python -m pytest -n 2 --junit-xml=times.xml
    .venv/bin/python -m tests.night times.xml

A case waits if it takes more than `EACH` seconds, but for the cheapest of its function if that takes less
than `ALONE`. What notices a seeded fault (`faults.md`) or shows a threat (`SECURITY.md`) never waits. A case
that waits stays in the list; to have it run by day again, take its line out.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
LIST = HERE / "night.txt"
EACH, ALONE = 0.7, 3.0  # seconds
_NAMED = re.compile(r"`(?:tests/)?((?:unit|contract|property|statistical|e2e|packaging)/\S+?\.py::[^`]+)`")


def listed() -> list[str]:
    """The cases that wait: ``file::function[case]``, from `tests/`."""
    return LIST.read_text("utf-8").splitlines()


def needed(*pages: Path) -> frozenset[str]:
    """The tests that pages name."""
    named = (_NAMED.findall(page.read_text("utf-8").replace("\\|", "|")) for page in pages)
    return frozenset(name for names in named for name in names)


def timed(report: Path) -> dict[str, float]:
    """Seconds of each case, with set-up and clean-up, from a report of pytest in JUnit's form."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname", "").removeprefix("tests.").replace(".", "/") + ".py"
        found[f"{file}::{case.get('name')}"] = float(case.get("time", 0))
    return found


def waiting(seconds: Mapping[str, float], kept: Iterable[str]) -> list[str]:
    """The cases that should wait; those that are `kept`, by name or function, never do."""
    names, functions = {*kept}, defaultdict[str, list[str]](list)
    for case in sorted(seconds, key=lambda case: seconds[case]):
        functions[case.partition("[")[0]].append(case)
    found = []
    for function, (first, *more) in functions.items():
        alone = [] if seconds[first] < ALONE else [first]
        dear = alone + [case for case in more if seconds[case] > EACH]
        found += [case for case in dear if not {case, function} & names]
    return sorted(found)


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
        If the list speaks of cases that do not exist.
    """
    cases = {item.nodeid.removeprefix("tests/"): item for item in items}
    files = {case.partition("::")[0] for case in cases}
    for case in listed():
        if case in cases:
            cases[case].add_marker("slow")
        elif case.partition("::")[0] in files and not named:
            raise pytest.UsageError(f"tests/night.txt: {case} is not there")


def main(report: Path) -> int:
    """Add to the list what takes long by a report of the tests that run by day."""
    kept = needed(HERE / "faults.md", HERE.parent / "SECURITY.md")
    seconds = timed(report)
    more = {*waiting(seconds, kept)}
    LIST.write_text("".join(f"{case}\n" for case in sorted({*listed(), *more})), "utf-8")
    left = sum(seconds.values()) - sum(seconds[case] for case in more)
    print(f"{len(more)} cases wait from now on; the others took {left:.0f} of {sum(seconds.values()):.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
