"""Tests that wait for the night (`make test-all`): `night.txt` lists them, and this writes the list.

    .venv/bin/python -m pytest -n 2 --junit-xml=times.xml
    .venv/bin/python -m tests.night times.xml

The dearest cases wait, until the others take `DAY` seconds together; the only case of a function counts as
`ALONE` times as cheap as it is. Seconds are those of the processor: other work on the machine changes them by
half, not tenfold. These never wait:

- what notices a seeded fault (`faults.md`) or makes a refusal happen (`refusals.toml`);
- of what shows a threat (`SECURITY.md`), the only case, or the one that is named;
- the edge tables and the numbers that papers claim (`ALWAYS`);
- the cheapest case of each file, and of each function that has several.

A case that waits stays in the list as long as it exists; to have it run by day again, take its line out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
LIST = HERE / "night.txt"
ALWAYS = ("unit/edges/", "contract/test_claimed_numbers.py", "contract/test_claimed_widths.py")
DAY, ALONE = 480.0, 16.0  # seconds of an idle core; times
SPENT = "CPU seconds"  # the property of a case in pytest's report
GONE = pytest.StashKey[list[str]]()
_NAMED = re.compile(r"`(?:tests/)?((?:unit|contract|property|statistical|e2e|packaging)/\S+?\.py::[^`]+)`")


def listed() -> list[str]:
    """The cases that wait: ``file::function[case]``, from `tests/`."""
    return LIST.read_text("utf-8").splitlines()


def needed(*pages: Path) -> frozenset[str]:
    """The tests that pages name."""
    named = (_NAMED.findall(page.read_text("utf-8").replace("\\|", "|")) for page in pages)
    return frozenset(name for names in named for name in names)


def kept() -> frozenset[str]:
    """The tests that never wait, by name or function."""
    pages = needed(HERE / "faults.md")
    refused = tomllib.loads((HERE / "refusals.toml").read_text("utf-8"))
    tests = [*refused["tests"].values(), *refused["words"].values()]
    return pages | {test.removeprefix("tests/") for test in tests}


def shown(cases: Iterable[str]) -> frozenset[str]:
    """Of these cases, those that show a threat and have no sibling that could do so by day."""
    named, many = needed(HERE.parent / "SECURITY.md"), Counter(case.partition("[")[0] for case in cases)
    return frozenset(name for name in named if "[" in name or many[name] == 1)


class Clock:
    """CPU seconds of one case after another, with those of the processes that it has waited for."""

    def __init__(self) -> None:
        self._since = 0.0

    def start(self) -> None:
        """A case begins."""
        self._since = self._now()

    def note(self, item: pytest.Item) -> None:
        """A case has ended: pytest's report says what it took."""
        item.user_properties.append((SPENT, f"{self._now() - self._since:.3f}"))

    @contextmanager
    def shared(self) -> Iterator[None]:
        """What is made here serves other cases too, and is not counted."""
        begun = self._now()
        yield
        self._since += self._now() - begun

    @staticmethod
    def _now() -> float:
        return sum(os.times()[:4])


def timed(report: Path) -> dict[str, float]:
    """CPU seconds of each case, with set-up and clean-up, from a report of pytest in JUnit's form."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname", "").removeprefix("tests.").replace(".", "/") + ".py"
        spent = case.find(f"properties/property[@name='{SPENT}']")
        found[f"{file}::{case.get('name')}"] = float(spent.get("value", 0)) if spent is not None else 0.0
    return found


def waiting(seconds: Mapping[str, float], kept: Iterable[str], day: float = DAY) -> list[str]:
    """The cases that should wait; those that are `kept`, by name or function, never do."""
    names, first, weights = {*kept}, set[str](), dict[str, float]()
    cases = Counter(case.partition("[")[0] for case in {*seconds, *listed()})
    for case in sorted(seconds, key=lambda case: seconds[case]):
        file, function = case.partition("::")[0], case.partition("[")[0]
        cheapest = file not in first or (function not in first and cases[function] > 1)
        if not cheapest and not case.startswith(ALWAYS) and not {case, function} & names:
            weights[case] = seconds[case] / (1 if function in first else ALONE)
        first |= {file, function}
    found, left = list[str](), sum(seconds.values())
    for case in sorted(weights, key=lambda case: -weights[case]):
        if left <= day:
            break
        found.append(case)
        left -= seconds[case]
    return sorted(found)


def missing(cases: Iterable[str]) -> list[str]:
    """What is listed and is not among the cases, of which all of a file are given, or none."""
    there = {*cases}
    files = {case.partition("::")[0] for case in there}
    return [case for case in listed() if case not in there and case.partition("::")[0] in files]


def wait(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Mark as slow what waits for the night, of all that were collected; `GONE` is what is no more.

    A test names that: an error here would end a worker, whose words are lost.
    """
    cases = {item.nodeid.removeprefix("tests/"): item for item in items}
    for case in {*listed()} & {*cases}:
        cases[case].add_marker("slow")
    config.stash[GONE] = [] if any("::" in word for word in config.args) else missing(cases)


def _collected() -> list[str]:
    """Every case that there is, those of the night too."""
    options = ["--collect-only", "-q", "-m", "slow or not slow", "-p", "no:cacheprovider"]
    done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=HERE.parent, stdout=subprocess.PIPE)
    lines = done.stdout.decode().splitlines()
    return [line.removeprefix("tests/") for line in lines if line.startswith("tests/")]


def main(report: Path) -> int:
    """Add to the list what takes long by a report of the tests that run by day; drop what is no more."""
    seconds, gone = timed(report), {*missing(_collected())}
    more = {*waiting(seconds, kept() | shown({*seconds, *listed()}))}
    LIST.write_text("".join(f"{case}\n" for case in sorted({*listed(), *more} - gone)), "utf-8")
    left = sum(seconds.values()) - sum(seconds[case] for case in more)
    print(f"{len(more)} cases wait from now on; the others took {left:.0f} of {sum(seconds.values()):.0f} s")
    print(f"{len(gone)} cases are no more")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
