"""Which fast tests execute a line of the source: recorded once, so that a fresh fault meets only those.

    .venv/bin/python -m tests.line_tests                   # record the fast suite
    .venv/bin/python -m tests.line_tests --most 20 tests/unit/core    # of each file so many seconds at most

What was recorded is kept outside of the repository (`VERIFIABLE_DP_LINES`, or the user's cache) together with
a digest of each module: of one that has changed since nothing is known. A line that ran once for all tests,
such as one of a class or under a cache, belongs to the test that came first.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

from tests.module_tests import ROOT, modules, test_files

_LAST = ("tests/statistical", "tests/e2e", "tests/packaging")  # what takes long, or starts programs
_LEFT = "VERIFIABLE_DP_RECORDS"  # where a recording process writes, and how long a file may take
MOST, _SLOWER = 60.0, 4.0


def folder() -> Path:
    """Where recordings are kept: a folder of each clone."""
    base = os.environ.get("VERIFIABLE_DP_LINES") or Path.home() / ".cache" / "verifiable-dp-lines"
    return Path(base) / hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]


def digest(path: Path) -> str:
    """Of the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


# ---------------------------------------------------------------- recording, within pytest


class Recorder:
    """A plugin that says in which test each line runs, and how long each test takes."""

    def __init__(self, place: Path, most: float) -> None:
        self._place, self._most = place, most
        self._seconds, self._spent = dict[str, float](), Counter[str]()
        self._coverage = coverage.Coverage(
            data_file=str(place.with_suffix(".lines")),
            source_pkgs=["verifiable_dp"],
            branch=False,
            config_file=False,
            messages=False,
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """One test, set-up and clean-up included."""
        file = item.nodeid.partition("::")[0]
        if self._spent[file] > self._most:
            item.add_marker(pytest.mark.skip(reason="of its file enough is recorded"))
            return (yield)
        self._coverage.switch_context(item.nodeid)
        started = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.perf_counter() - started
            self._spent[file] += self._seconds[item.nodeid]

    def pytest_unconfigure(self) -> None:
        """Write what was recorded."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._coverage.stop()
            self._coverage.save()
        self._place.with_suffix(".seconds").write_text(json.dumps(self._seconds), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Record where the environment asks for it."""
    if _LEFT in os.environ:
        place, most = os.environ[_LEFT].rsplit(":", 1)
        config.pluginmanager.register(Recorder(Path(place), float(most)))


# ---------------------------------------------------------------- recording, some files at a time


def record(
    files: Sequence[Path], most: float, *, again: bool = False, together: int = 12
) -> Iterator[tuple[int, float]]:
    """Record test files, so many together: all, or those of which not all is known as it is now."""
    home = folder()
    home.mkdir(parents=True, exist_ok=True)
    known = frozenset[str]() if again else _settled()
    left = [path for path in files if _name(path) not in known]
    for start in range(0, len(left), together):
        started, some = time.monotonic(), left[start : start + together]
        place = home / f"{hashlib.sha256(repr(sorted(map(digest, some))).encode()).hexdigest()[:16]}.files"
        for old in home.glob(f"{place.stem}.*"):
            old.unlink()
        written = {
            "most": most,
            "files": {_name(path): digest(path) for path in some},
            "modules": {name: digest(path) for name, path in modules().items()},
        }
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.line_tests"]
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *map(str, some)],
            cwd=ROOT,
            env={**os.environ, _LEFT: f"{place}:{most:g}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            try:
                run.wait(_SLOWER * (most + 30) * len(some))
            except subprocess.TimeoutExpired:
                run.kill()
        place.write_text(json.dumps(written), "utf-8")
        yield len(some), time.monotonic() - started


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ---------------------------------------------------------------- what was recorded


@dataclass(frozen=True)
class Recording:
    """What one process recorded: the digests of test files and of modules, and how long each test took."""

    place: Path
    most: float
    files: dict[str, str]
    modules: dict[str, str]
    seconds: dict[str, float]

    @property
    def cut(self) -> frozenset[str]:
        """The files of which only the first tests were recorded."""
        spent = defaultdict[str, float](float)
        for test, took in self.seconds.items():
            spent[test.partition("::")[0]] += took
        return frozenset(file for file, took in spent.items() if took > self.most)

    def lines(self, path: Path) -> dict[int, set[str]]:
        """The tests of each line of a module."""
        data = coverage.CoverageData(str(self.place.with_suffix(".lines")))
        data.read()
        found = data.contexts_by_lineno(str(path.resolve()))
        return {line: set(filter(None, tests)) for line, tests in found.items()}


@functools.cache
def recordings() -> tuple[Recording, ...]:
    """All of this clone that came to an end."""
    found = list[Recording]()
    for place in sorted(folder().glob("*.files")):
        of = place.with_suffix(".seconds")
        if of.is_file():
            known, tests = json.loads(place.read_text("utf-8")), json.loads(of.read_text("utf-8"))
            found.append(Recording(place, known["most"], known["files"], known["modules"], tests))
    return tuple(found)


def _as_recorded(one: Recording) -> set[str]:
    """The test files that are as they were recorded."""
    return {name for name, was in one.files.items() if (ROOT / name).is_file() and digest(ROOT / name) == was}


def _settled() -> frozenset[str]:
    """The test files that were recorded, and that run no line of a module that has changed since."""
    found = set[str]()
    for one in recordings():
        changed = {name for name, path in modules().items() if one.modules.get(name) != digest(path)}
        hit = {t for name in changed for tests in one.lines(modules()[name]).values() for t in tests}
        found |= _as_recorded(one) - {test.partition("::")[0] for test in hit}
    return frozenset(found)


@functools.cache
def seconds() -> dict[str, float]:
    """How long each test took, of the files that are as they were recorded."""
    found = dict[str, float]()
    for one in recordings():
        same = _as_recorded(one)
        found |= {test: took for test, took in one.seconds.items() if test.partition("::")[0] in same}
    return found


@functools.cache
def _lines(module: str) -> dict[int, set[str]]:
    """The tests of each line of a module, of the recordings that know it as it is now."""
    found, now = dict[int, set[str]](), digest(modules()[module])
    for one in recordings():
        if one.modules.get(module) == now:
            for line, tests in one.lines(modules()[module]).items():
                found.setdefault(line, set()).update(tests)
    return found


@functools.cache
def recorded(module: str) -> frozenset[str]:
    """The test files that are as they were when they were recorded, as a whole, with the module as it is."""
    now = digest(modules()[module])
    same = (one for one in recordings() if one.modules.get(module) == now)
    return frozenset[str]().union(*(_as_recorded(one) - one.cut for one in same))


def tests_of(module: str, first: int, last: int) -> list[str]:
    """Fast tests that execute one of these lines, the cheapest first; none where nothing is recorded."""
    lines = _lines(module)
    found = set[str]().union(*(lines.get(line, set()) for line in range(first, last + 1)))
    return sorted(found & set(seconds()), key=lambda test: (seconds()[test], test))


def main() -> int:
    """Record, and print what each file took."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folders", nargs="*", help="of test files; all of them by default")
    parser.add_argument("--most", type=float, default=MOST, help="seconds of each file, about")
    parser.add_argument("--again", action="store_true", help="also what is recorded, in part or as a whole")
    given = parser.parse_args()
    wanted = tuple(f"{name.rstrip('/')}" for name in given.folders)
    files = [path for path in test_files() if path.relative_to(ROOT).as_posix().startswith(wanted or ("",))]
    files.sort(key=lambda path: path.relative_to(ROOT).as_posix().startswith(_LAST))
    for number, took in record(files, given.most, again=given.again):
        print(f"{number} files in {took:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
