"""Two folders of reports beside each other: which files say the same, and what differs beyond the run.

A report made again differs in what names its run (`sealing.RUN`), and in the lines of its page that show it.
A data file is the same except for the run if it is, byte for byte, the old one with the run of the new one
put in, or differs from that in the last digits of floats only (`evidence.rounding`). A page is, if it differs
in those lines only in which the pages of these two data files differ, too.
Nothing is masked by its look, so that no other difference can hide.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence import rounding
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import SCHEMA_VERSION, text, without_run
from verifiable_dp.record.verify import GONE, LARGEST, Apart, apart, first_difference, parsed, verify
from verifiable_dp.render import mutation, page
from verifiable_dp.render.diff import Change, unbroken
from verifiable_dp.render.errata import ERRATA_VERSION, verify_errata
from verifiable_dp.render.mutation import MUTANTS_VERSION, verify_mutants
from verifiable_dp.render.study import STUDY_VERSION, verify_study

STATUSES = ("same", "run", "differs", "old", "new")
_DIGITS = "last digits"  # what differs as numerics do: evidence.rounding
_FIELDS = 20  # of a file that are shown on a terminal
_LINES = 3  # of a text that are shown
_BEFORE, _WIDE = 40, 160  # characters of a line that are shown: before the first that differs, and in all


@dataclass(frozen=True)
class _Kind:
    """A kind of data file: how it is verified, and the page it makes (plots may be left out)."""

    verified: Callable[[Json], Json]
    page: Callable[[Json], str]


@dataclass(frozen=True)
class _Pair:
    """Two data files of one kind that hold and are not the same; `close`: only last digits differ."""

    kind: _Kind
    old: Json
    new: Json
    close: bool = False


_RECORD = _Kind(
    lambda values: verify(values).record, lambda values: page.render(Record.of(values), drawn=False)
)
_KINDS = {
    SCHEMA_VERSION: _RECORD,
    ERRATA_VERSION: _Kind(verify_errata, page.render_errata),
    MUTANTS_VERSION: _Kind(verify_mutants, mutation.render),
    STUDY_VERSION: _Kind(verify_study, page.render_study),
}


@dataclass(frozen=True)
class ComparedFile:
    """A file of one folder beside the one of that name in the other.

    Attributes
    ----------
    path
        In both folders, with slashes.
    status
        ``same`` (bytes), ``run`` (same but for what names the run), ``differs``, or ``old`` or ``new`` where
        only that folder has it.
    changes
        What differs: fields of a data file, otherwise the first lines.
    note
        What else there is to say; empty if nothing.
    """

    path: str
    status: str
    changes: tuple[Change, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Folders:
    """Two folders beside each other.

    Attributes
    ----------
    old, new
        As they were named.
    files
        All that were compared, by path.
    left_out
        How many were not, as asked for.
    """

    old: str
    new: str
    files: tuple[ComparedFile, ...]
    left_out: int

    @property
    def outcome(self) -> str:
        """``same`` if every file is the same except for the run, else ``differs``."""
        return "same" if all(file.status in ("same", "run") for file in self.files) else "differs"

    def lines(self) -> list[str]:
        """For a terminal: every file, and a summary as the last line."""
        words = {
            "same": "same bytes",
            "run": "same except for the run",
            "differs": "differs",
            "old": f"only in {self.old}",
            "new": f"only in {self.new}",
        }
        width = max(len(words[file.status]) for file in self.files) + 2
        found = []
        for file in self.files:
            note = f": {file.note}" if file.note else ""
            found.append(f"{words[file.status]:<{width}}{file.path}{note}")
            found += [f"  field {change.line()}" for change in file.changes[:_FIELDS]]
            if len(file.changes) > _FIELDS:
                found.append(f"  and {len(file.changes) - _FIELDS} more")
        counts = Counter(file.status for file in self.files)
        parts = [f"{counts[status]} {words[status]}" for status in STATUSES if counts[status]]
        left_out = f", {self.left_out} not compared" if self.left_out else ""
        found.append(f"folders {self.old} -> {self.new}: {self.outcome}: {', '.join(parts)}{left_out}")
        return [unbroken(line) for line in found]

    def as_dict(self) -> JsonDict:
        """JSON values."""
        counts = Counter(file.status for file in self.files)
        return {
            "old": self.old,
            "new": self.new,
            "outcome": self.outcome,
            "counts": {status: counts[status] for status in STATUSES},
            "left_out": self.left_out,
            "files": [asdict(file) for file in self.files],
        }


def compare(old: str | Path, new: str | Path, *, without: Sequence[str] = ()) -> Folders:
    """Compare all files of two folders; nothing is run.

    Data files (records, errata, kill tables, studies) are verified where their bytes differ; one that does
    not hold differs. Hidden files and links to folders are left out.

    Parameters
    ----------
    old, new
        Folders.
    without
        Patterns such as ``mutants.*`` of files, or of folders with all that is in them, to leave out.

    Raises
    ------
    InputError
        If there is no such folder, it cannot be read, or there is no file to compare.
    """
    sides = [Path(old), Path(new)]
    for name, folder in zip(("old", "new"), sides, strict=True):
        if not folder.is_dir():
            raise InputError(f"{name}: {str(folder)!r} is not a folder")
    listed = [set(_listed(folder)) for folder in sides]
    every = listed[0] | listed[1]
    paths = {path for path in every if not _matches(path, without)}
    if not paths:
        raise InputError(f"folder: no file to compare in {str(old)!r} and {str(new)!r}")
    found: dict[str, ComparedFile] = {}
    held: dict[str, _Pair] = {}
    # A page is looked at after the data file that it shows.
    for path in sorted(paths, key=lambda path: (not path.endswith(".json"), path)):
        if path in listed[0] and path in listed[1]:
            found[path] = _beside(path, sides[0] / path, sides[1] / path, held)
        else:
            found[path] = ComparedFile(path, "old" if path in listed[0] else "new")
    files = tuple(found[path] for path in sorted(found))
    return Folders(str(old), str(new), files, len(every) - len(paths))


def _listed(folder: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"folder: {str(error.filename)!r} cannot be read: {error.strerror}")

    for here, inside, names in os.walk(folder, onerror=refuse):
        inside[:] = [name for name in inside if not name.startswith(".")]
        for name in names:
            path = Path(here) / name
            if not name.startswith(".") and path.is_file():  # a pipe would never end
                yield path.relative_to(folder).as_posix()


def _matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern is that of the file or of a folder around it."""
    whole = PurePosixPath(path)
    around = [str(place) for place in (whole, *whole.parents)]
    return any(fnmatchcase(place, pattern.rstrip("/")) for place in around for pattern in patterns)


def _beside(path: str, old: Path, new: Path, held: dict[str, _Pair]) -> ComparedFile:
    left, right = _content(old), _content(new)
    if left == right:
        return ComparedFile(path, "same")
    if path.endswith(".json"):
        before, after = _values(old, left), _values(new, right)
        kind = _kind(before)
        if kind is not None and kind is _kind(after):
            return _data(path, kind, {old: before, new: after}, right, held)
    return _plain(path, left, right, _shown(path, held))


def _content(path: Path) -> bytes:
    return files.content("folder", path, LARGEST)


def _values(path: Path, content: bytes) -> Json:
    """None of ours, or damaged beyond reading: then it is a text, and there are no values."""
    try:
        return parsed(path, content)
    except InputError:
        return {}


def _kind(values: Json) -> _Kind | None:
    version = values.get("schema_version")
    return _KINDS.get(version) if isinstance(version, str) else None


# ---------------------------------------------------------------- data files


def _data(
    path: str, kind: _Kind, sides: Mapping[Path, Json], content: bytes, held: dict[str, _Pair]
) -> ComparedFile:
    """Two data files of one kind, the old one and the new one with its content."""
    notes = []
    for side, values in sides.items():
        try:
            kind.verified(values)
        except InputError as error:
            notes.append(f"{str(side)!r} is invalid: {error}")
    before, after = sides.values()
    every = [_change(one) for one in apart(without_run(before), without_run(after))]
    changes = tuple(change for change in every if change.note != _DIGITS)
    if not notes:
        held[path] = _Pair(kind, before, after, close=bool(every) and not changes)
        if not every and text(without_run(before, after)).encode() != content:
            notes.append("different spaces, line breaks or key order")
    status = "differs" if changes or notes else "run"
    if len(every) > len(changes):
        notes.append(f"{len(every) - len(changes)} numbers differ in their last digits")
    return ComparedFile(path, status, changes, "; ".join(notes))


def _change(found: Apart) -> Change:
    """A field that is not the same JSON."""
    place, old, new = found.place, found.old, found.new
    if old is GONE or new is GONE:
        only, old, new = ("new", None, new) if old is GONE else ("old", old, None)
        return Change(place, old, new, note=f"only in the {only} one")
    if isinstance(old, list) and isinstance(new, list):
        return Change(place, f"{len(old)} entries", f"{len(new)} entries")
    texts = isinstance(old, str) and isinstance(new, str)
    close = _close(old, new) if texts else found.off <= rounding.TOLERANCE
    old, new = _where(old, new) if texts else (old, new)
    return Change(place, old, new, note=_DIGITS if close else "")


def _close(old: str, new: str) -> bool:
    """Whether two decimal strings, as blocks hold them, differ as floats do; whole numbers must be equal."""
    try:
        return not (old.isdigit() and new.isdigit()) and not first_difference(float(old), float(new))
    except ValueError:
        return False


# ---------------------------------------------------------------- texts


def _shown(path: str, held: Mapping[str, _Pair]) -> Counter[tuple[str, str]]:
    """Lines of a page, old and new, that may differ: those that show the run of the data file beside it."""
    place = PurePosixPath(path)
    names = [place.with_suffix(".json"), *([place.with_name("study.json")] if place.stem == "index" else [])]
    for name in names if place.suffix == ".html" else []:
        if str(name) in held:
            pair = held[str(name)]
            other = pair.new if pair.close else without_run(pair.old, pair.new)
            pages = [pair.kind.page(shown).split("\n") for shown in (pair.old, other)]
            if len(pages[0]) == len(pages[1]):
                return Counter(lines for lines in zip(*pages, strict=True) if lines[0] != lines[1])
    return Counter()


def _plain(path: str, old: bytes, new: bytes, allowed: Counter[tuple[str, str]]) -> ComparedFile:
    try:
        before, after = old.decode("utf-8").split("\n"), new.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return ComparedFile(path, "differs", note=f"{len(old)} bytes -> {len(new)} bytes, no text")
    left = Counter(allowed)
    found = []
    for number, pair in enumerate(zip(before, after, strict=False), start=1):
        if pair[0] == pair[1]:
            continue
        if left[pair]:
            left[pair] -= 1
        else:
            found.append((number, pair))
    changes = [Change(f"line {number}", *_where(*pair)) for number, pair in found[:_LINES]]
    note = f"{len(found)} lines" if len(found) > _LINES else ""
    if len(before) != len(after):
        note = f"{len(before)} lines -> {len(after)} lines"
    elif not found and left.total():
        note = "does not show the run in the data file next to it"
    return ComparedFile(path, "differs" if found or note else "run", tuple(changes), note)


def _where(old: str, new: str) -> tuple[str, str]:
    """Both texts around the first character that differs."""
    common = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    start = max(0, common - _BEFORE)
    return _cut(old, start), _cut(new, start)


def _cut(words: str, start: int) -> str:
    end = start + _WIDE
    return f"{'…' if start else ''}{words[start:end]}{'…' if end < len(words) else ''}"
