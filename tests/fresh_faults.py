"""Fresh faults: drawn by operator anywhere in the source, so that nobody has seen them before.

    .venv/bin/python -m tests.faults --fresh 40 --seed 7

Each is put into a copy of the tree. The fast tests that run its line are run, the quickest first, as far as
they were recorded (`python -m tests.line_tests`); then of the test files nearest to the module
(`tests.module_tests`) those that were not, or all of them where no recorded test runs the line, as of
compiled code; for so many seconds in all. What survives is printed with its line: a hole in the tests, or an
edit that changes nothing.
"""

from __future__ import annotations

import ast
import functools
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import live_faults
from tests.ast_faults import Edit, edited, faults_in
from tests.line_tests import recorded, seconds, tests_of
from tests.module_tests import ROOT, modules, nearest

_FIRST = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - |$)", re.MULTILINE)
_LATE = "out of time"
_QUIET = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of plugins that are loaded already
)
MOST = 180.0  # seconds for the tests of one fault
_AT_ONCE = 400  # tests of one run of pytest
_SLOWER = 10.0  # times as long as recorded: then a fault makes a test hang


@dataclass(frozen=True)
class Fresh:
    """A fault: a module of the source and an edit of its tree."""

    module: str
    path: Path
    edit: Edit

    @property
    def last(self) -> int:
        """The last line of what is edited."""
        return int(getattr(self.edit.node, "end_lineno", None) or self.edit.line)

    @property
    def words(self) -> str:
        """Where it is, and what it does."""
        return f"{self.path.relative_to(ROOT)}:{self.edit.line}: {self.edit.operator}: {self.edit.words}"


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def _edits(path: Path) -> tuple[Edit, ...]:
    """The edits of a module that can be made in its text."""
    found = faults_in(_tree(path), also=True)
    return tuple(edit for edit in found if isinstance(edit.node, ast.expr | ast.stmt))


def drawn(count: int, seed: int) -> list[Fresh]:
    """Faults of random modules, a longer one being likelier; one of each line at most."""
    rng, found = random.Random(seed), dict[tuple[Path, int], Fresh]()
    names = list(modules())
    sizes = [modules()[name].stat().st_size for name in names]
    while len(found) < count:
        [name] = rng.choices(names, sizes)
        if edits := _edits(modules()[name]):
            fault = Fresh(name, modules()[name], rng.choice(edits))
            found.setdefault((fault.path, fault.edit.line), fault)
    return list(found.values())


@dataclass(frozen=True)
class Came:
    """What came of a fault, and the test that failed.

    That is ``line`` or ``nearest`` if a test of its line or of the nearest files failed, ``survived`` if all
    passed, ``out of time`` if those that were reached in time did.
    """

    fault: Fresh
    by: str
    test: str
    seconds: float


def live(faults: Sequence[Fresh], most: float = MOST) -> dict[int, Came]:
    """What comes of the faults in functions whose lines tests are known to run, by number: those caught.

    They are put into code that is loaded, with all of these tests collected once (`live_faults`).
    """
    given, files = list[dict[str, object]](), set[str]()
    for number, fault in enumerate(faults):
        tests = _cheap(tests_of(fault.module, fault.edit.line, fault.last), most / _SLOWER)
        text = fault.path.read_text("utf-8")
        if tests and live_faults.applies(_tree(fault.path), fault.edit.node):
            source = edited(text, fault.edit)
            given.append({"number": number, "path": str(fault.path), "source": source, "tests": tests})
            files |= {test.partition("::")[0] for test in tests}
    if not given:
        return {}
    with tempfile.TemporaryDirectory(prefix="fresh-") as folder:
        place = Path(folder) / "faults.json"
        place.write_text(json.dumps([{**one, "near": [], "most": most} for one in given]), "utf-8")
        subprocess.run(
            [sys.executable, "-m", "pytest", *_QUIET[1:], "-p", "tests.live_faults", *sorted(files)],
            cwd=ROOT,
            env={**os.environ, live_faults.GIVEN: str(place)},
            stdout=subprocess.DEVNULL,
        )
        came = place.with_suffix(".came")
        lines = came.read_text("utf-8").splitlines() if came.is_file() else []
    found = {one["number"]: one["failed"] for one in map(json.loads, lines)}
    caught = {n: test for n, test in found.items() if test not in ("", "late", live_faults.NONE)}
    return {n: Came(faults[n], "line", test, 0.0) for n, test in caught.items()}


def _cheap(tests: Sequence[str], most: float) -> list[str]:
    """The first tests that take so long together, and at least one."""
    ends = itertools.accumulate(seconds()[test] for test in tests)
    return [
        test for number, (test, end) in enumerate(zip(tests, ends, strict=True)) if end < most or not number
    ]


def tried(faults: Sequence[Fresh], most: float = MOST) -> Iterator[Came]:
    """What comes of each fault: in code that is loaded, then, of what survives, in a copy of the tree."""
    caught = live(faults, most)
    yield from caught.values()
    yield from copied([fault for number, fault in enumerate(faults) if number not in caught], most)


def copied(faults: Sequence[Fresh], most: float = MOST) -> Iterator[Came]:
    """What comes of each fault, one after the other in one copy of the tree."""
    with (
        tempfile.TemporaryDirectory(prefix="fresh-") as folder,
        _Runs(_copied(Path(folder) / "tree")) as runs,
    ):
        for fault in faults:
            started = time.monotonic()
            by, test = runs.of(fault, most)
            yield Came(fault, by, test, time.monotonic() - started)


def _copied(tree: Path) -> Path:
    """A copy of all files that git knows, links as links."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, place = ROOT / name, tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() or source.is_file():
            shutil.copy2(source, place, follow_symlinks=False)
    return tree


class _Runs:
    """Runs of tests in a copy of the tree, with a fault and without."""

    def __init__(self, tree: Path) -> None:
        self._tree, self._number = tree, 0
        self._broken, self._fine = set[str](), set[str]()  # tests that fail, or pass, without a fault
        self._kept = tempfile.mkdtemp(dir=tree.parent)  # compiled kernels
        self._server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "forked_tests.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> _Runs:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.kill()
        self._server.communicate()

    def of(self, fault: Fresh, most: float) -> tuple[str, str]:
        """What came of a fault, and the first test that fails with it and not without."""
        of_line = tests_of(fault.module, fault.edit.line, fault.last)
        near = [path.relative_to(ROOT).as_posix() for path in nearest(fault.module)]
        near = [name for name in near if not of_line or name not in recorded(fault.module)]
        parts = [("line", of_line[start : start + _AT_ONCE]) for start in range(0, len(of_line), _AT_ONCE)]
        end = time.monotonic() + most
        for by, tests in [*parts, ("nearest", near)] if near else parts:
            begun = time.monotonic()
            while failed := self._first(tests, fault, end - begun):
                if failed == _LATE:
                    hangs = by == "line" and _SLOWER * sum(seconds()[test] for test in tests) < end - begun
                    return (by, "hangs") if hangs else (_LATE, "")
                if self._passes(failed):
                    return by, failed
                self._broken.add(failed)
        return "survived", ""

    def _passes(self, test: str) -> bool:
        """Whether it passes in the copy without a fault."""
        if test not in self._fine and not self._first([test], None, MOST):
            self._fine.add(test)
        return test in self._fine

    def _first(self, tests: Sequence[str], fault: Fresh | None, most: float) -> str:
        """The first test that fails within so many seconds; empty if none does."""
        if most <= 0:
            return _LATE
        if fault is None:
            return self._run(tests, most, self._kept)
        place = self._tree / fault.path.resolve().relative_to(ROOT)
        text, before = place.read_text("utf-8"), place.stat()
        self._number += 1
        later = before.st_mtime_ns + self._number * 10**9  # what was compiled is known by size and second
        compiles = "kernel" in text or "numba" in text
        try:
            place.write_text(edited(text, fault.edit), "utf-8")
            os.utime(place, ns=(later, later))
            return self._run(tests, most, tempfile.mkdtemp(dir=self._tree.parent) if compiles else self._kept)
        finally:
            place.write_text(text, "utf-8")
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _run(self, tests: Sequence[str], most: float, compiled: str) -> str:
        left_out = [f"--deselect={name}" for name in self._broken]
        options = [*_QUIET, *left_out, *tests]
        environment = {"PYTHONPATH": str(self._tree), "NUMBA_CACHE_DIR": compiled}
        given = {"tree": str(self._tree), "options": options, "environment": environment, "most": most}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(given), file=self._server.stdin, flush=True)
        status, printed = json.loads(self._server.stdout.readline())
        if status is None:
            return _LATE
        found = _FIRST.search(printed)
        return found[1] if found else "" if status in (0, 5) else f"status {status}"


def main(count: int, seed: int, most: float = MOST) -> int:
    """Try fresh faults and print the rate and what survives; 0 whatever it is."""
    came = list[Came]()
    for one in tried(drawn(count, seed), most):
        came.append(one)
        print(f"{len(came)}/{count} {one.by} ({one.seconds:.0f} s) {one.fault.words}  {one.test}", flush=True)
    survived = [one for one in came if one.by in ("survived", "out of time")]
    print(f"seed {seed}: caught {len(came) - len(survived)} of {len(came)}")
    for one in survived:
        print(f"{one.by}: {one.fault.words}")
    return 0
