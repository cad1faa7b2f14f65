"""Fresh faults: drawn by operator anywhere in the source, so that nobody has seen them before.

    .venv/bin/python -m tests.faults --fresh 40 --seed 7

Each is put into a copy of the tree. The test files nearest to its module run first (`tests.module_tests`),
then the rest of the fast suite for so many seconds. What survives is printed with its line: a hole in the
tests, or an edit that changes nothing.
"""

from __future__ import annotations

import ast
import functools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.ast_faults import Edit, edited, faults_in
from tests.module_tests import ROOT, modules, nearest, test_files

_FIRST = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - |$)", re.MULTILINE)
_LATE = "out of time"
NEAR, LEFT = 180.0, 300.0  # seconds for the nearest files, and for the rest of the suite
_GUARDED_BY_RUNS = ("tests/packaging", "tests/statistical", "tests/e2e")  # the longest of the suite come last


@dataclass(frozen=True)
class Fresh:
    """A fault: a module of the source and an edit of its tree."""

    module: str
    path: Path
    edit: Edit

    @property
    def words(self) -> str:
        """Where it is, and what it does."""
        return f"{self.path.relative_to(ROOT)}:{self.edit.line}: {self.edit.operator}: {self.edit.words}"


@functools.cache
def _edits(path: Path) -> tuple[Edit, ...]:
    """The edits of a module that can be made in its text."""
    found = faults_in(ast.parse(path.read_text("utf-8")), also=True)
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

    That is ``nearest`` or ``suite`` if a test failed, ``survived`` if all passed, ``out of time`` if those
    that were reached in time did.
    """

    fault: Fresh
    by: str
    test: str
    seconds: float


def tried(faults: Sequence[Fresh], left: float = LEFT) -> Iterator[Came]:
    """What comes of each fault, one after the other in one copy of the tree."""
    with tempfile.TemporaryDirectory(prefix="fresh-") as folder:
        tree = _copied(Path(folder) / "tree")
        broken = set[str]()  # tests that fail in the copy without a fault, too
        for number, fault in enumerate(faults):
            yield _tried(fault, tree, number, left, broken)


def _copied(tree: Path) -> Path:
    """A copy of all files that git knows, links as links."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, place = ROOT / name, tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() or source.is_file():
            shutil.copy2(source, place, follow_symlinks=False)
    return tree


def _tried(fault: Fresh, tree: Path, number: int, left: float, broken: set[str]) -> Came:
    started, place = time.monotonic(), tree / fault.path.resolve().relative_to(ROOT)
    text, before = place.read_text("utf-8"), place.stat()
    later = before.st_mtime_ns + (1 + number) * 10**9  # what was compiled is known by size and second

    def failing(files: Sequence[str], most: float) -> str:
        """The first test that fails with the fault and not without it."""
        while True:
            place.write_text(edited(text, fault.edit), "utf-8")
            os.utime(place, ns=(later, later))
            try:
                failed = _failed(tree, files, most, broken)
            finally:
                place.write_text(text, "utf-8")
                os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
            if failed in ("", _LATE) or not _failed(tree, [failed], most, set()):
                return failed
            broken.add(failed)

    near = [path.relative_to(ROOT).as_posix() for path in nearest(fault.module)]
    by = "survived"
    for part, files, most in (("nearest", near, NEAR), ("suite", _rest(near), left)):
        failed = failing(files, most) if files and most else _LATE if files else ""
        if failed and failed != _LATE:
            return Came(fault, part, failed, time.monotonic() - started)
        by = "out of time" if failed else by
    return Came(fault, by, "", time.monotonic() - started)


def _rest(near: Sequence[str]) -> list[str]:
    """The other files of the suite, those that take long last."""
    found = [path.relative_to(ROOT).as_posix() for path in test_files()]
    return sorted(set(found) - set(near), key=lambda name: (name.startswith(_GUARDED_BY_RUNS), name))


def _failed(tree: Path, files: Sequence[str], most: float, without: Iterable[str]) -> str:
    """The first test that fails within so many seconds; empty if none does."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=tree.parent),
    }
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    left_out = [f"--deselect={name}" for name in without]
    command = [sys.executable, "-m", "pytest", *options, *left_out, *files]
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        try:
            printed, _ = run.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            return _LATE
    found = _FIRST.search(printed)
    return found[1] if found else "" if run.returncode in (0, 5) else f"status {run.returncode}"


def main(count: int, seed: int, left: float = LEFT) -> int:
    """Try fresh faults and print the rate and what survives; 0 whatever it is."""
    came = list[Came]()
    for one in tried(drawn(count, seed), left):
        came.append(one)
        print(f"{len(came)}/{count} {one.by} ({one.seconds:.0f} s) {one.fault.words}  {one.test}", flush=True)
    survived = [one for one in came if one.by in ("survived", "out of time")]
    near = sum(one.by == "nearest" for one in came)
    print(f"seed {seed}: caught {len(came) - len(survived)} of {len(came)}, {near} by the nearest files")
    for one in survived:
        print(f"{one.by}: {one.fault.words}")
    return 0
