"""Of which code a record is, of which commit, how old, and of which question: what it cannot say of itself.

A record says what it was made of, and a signature says who answers for that. That it speaks of the code that
is here today is compared with that code; nothing of it is run.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from verifiable_dp.auditing import answers, asking
from verifiable_dp.core import engine, files
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import committed, requests
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import TREE, differing, tree
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.targets import folders, opened
from verifiable_dp.targets.process import PROGRAM, Exec
from verifiable_dp.targets.source import file_digest

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0}
_AHEAD = 300.0  # seconds that a clock may be ahead of another one


def refuse_expired(record: Record) -> None:
    """Refuse a record whose declarations say that it is not to be relied on any more.

    Raises
    ------
    InputError
        In that case.
    """
    last = record.declared.get("expires")
    if last is not None and time.strftime("%Y-%m-%d", time.gmtime()) > last:
        raise InputError(f"expires: the record was valid until {last}; audit again")


@dataclass(frozen=True)
class RecordOrigin:
    """What is expected of records.

    Parameters
    ----------
    source
        Folder from which the audit would be started now: its code has to be that of the record.
    commit
        Of the audited file, all digits. An algorithm of the catalogue has to be the one of this package,
        whatever `source` and `commit` are.
    max_age
        Such as ``30d``, ``12h`` or ``90m``: how long ago it may have been asked for.
    request
        What has to be answered; None where that is looked for beside a record.

    Raises
    ------
    InputError
        If one is not of this form.
    """

    source: Path | None = None
    commit: str = ""
    max_age: str = ""
    request: RequestEntry | None = None

    def __post_init__(self) -> None:
        if self.source is not None and not self.source.is_dir():
            raise InputError(f"source: {str(self.source)!r} is not a folder")
        if self.commit and not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", self.commit):
            raise InputError(
                f"commit must be a full hash (git rev-parse HEAD), got {self.commit!r}; "
                "anybody can make another commit with the same first digits"
            )
        if self.max_age and not re.fullmatch(r"\d+[mhd]", self.max_age):
            raise InputError(f"max_age must be a time such as 30d, 12h or 90m, got {self.max_age!r}")

    def check(self, record: Record) -> None:
        """Refuse a record that is not what is expected, or that has expired.

        Raises
        ------
        InputError
            In that case: the first thing that differs.
        """
        refuse_expired(record)
        asked = record.provenance.request
        asked = None if asked is None else requests.checked(asked.as_dict())
        if self.request is not None:
            if asked is None or asked.digest != self.request.digest:
                raise InputError(
                    f"request: the record must answer {self.request.digest}, but it answers "
                    f"{asked.digest if asked else 'no request'}"
                )
            answers.of_request(record.as_dict(), asked.as_dict())
            self.declared(record, self.request)
        if self.max_age:
            self._fresh(record, asked)
        asks = "commit" if self.commit else "source" if self.source is not None else ""
        if asks and record.target.ours:
            self._installed(asks, record, asked)
            return
        if asks and (why := committed.unknown(record)):
            raise InputError(f"{asks}: {why}")
        if asks and asked is not None:
            self._started_by(asks, asked)
        if self.commit:
            self._committed(record)
            self._started("commit", record, Path.cwd())
        if self.source is not None:
            self._started("source", record, self.source)
            self._present(record, asked, self.source)

    def check_settings(self, asked: Iterable[Path]) -> None:
        """Refuse files that say what is asked, if the commit does not have them as they are here.

        Raises
        ------
        InputError
            In that case.
        """
        if self.commit and (other := differing(self.commit, asked)):
            raise InputError(
                f"commit: {str(other[0])!r} differs from its version in commit {self.commit}, so the "
                "audit did not ask what that commit asks; commit the file, or check it out, and audit "
                "again"
            )

    @classmethod
    def placed(cls, record: Record, folder: Path) -> None:
        """Refuse a record of a file that has the same name in another folder of the checkout of `folder`.

        Raises
        ------
        InputError
            In that case.
        """
        if files.checkout(folder) and not record.target.ours:
            with contextlib.chdir(folder):
                cls._placed(record, "campaign")

    @staticmethod
    def _installed(asks: str, record: Record, asked: RequestEntry | None) -> None:
        """Refuse an algorithm of the catalogue that is not the one of this package."""
        if (asked.code if asked else record.provenance.code) != engine.code_digest():
            raise InputError(
                f"{asks}: the catalogue installed here differs from the one that was audited; install "
                f"verifiable-dp {record.provenance.version} here, or audit again"
            )

    @staticmethod
    def declared(record: Record, asked: RequestEntry) -> None:
        """Refuse a record whose declarations leave out a hole that its request declares.

        Raises
        ------
        InputError
            In that case.
        """
        stated = msgspec.structs.replace(record, declarations=asked.declarations)
        if (holes := decision(stated).holes) and not decision(record).holes:
            raise InputError(
                f"request: its declarations void the promise ({', '.join(holes)}), but the record's do not; "
                "audit again with the current declarations"
            )

    def _fresh(self, record: Record, asked: RequestEntry | None) -> None:
        made = asked.made if asked else record.provenance.started
        age = time.time() - requests.seconds(made)
        most = int(self.max_age[:-1]) * _UNITS[self.max_age[-1]]
        if not -_AHEAD <= age <= most:
            raise InputError(f"max_age: the record was requested at {made}, more than {self.max_age} ago")

    @staticmethod
    def _started(asks: str, record: Record, folder: Path) -> None:
        """Refuse another folder than that of the audit if paths of the code begin there."""
        facts, here = record.provenance.target, folder.resolve()
        place = os.path.relpath(here, files.checkout(here) or here).replace(os.sep, "/")
        if facts.folder not in (None, place):
            raise InputError(
                f"{asks}: the code opens {opened.relative(facts.opened or {})!r} from the folder in which it "
                f"runs; it was audited in {facts.folder!r} of its repository, and here that is {place!r}; "
                "audit and judge it in the folder in which it runs in production"
            )

    def _started_by(self, asks: str, asked: RequestEntry) -> None:
        """Refuse the record of a command that another program ran than is found by its name here."""
        ran = {name: one for name, one in asked.target.files.items() if name.startswith(PROGRAM)}
        if not ran:
            return
        with contextlib.chdir(self.source or Path.cwd()):
            here = Exec(asked.target.name).programs
        for name, digest in ran.items():
            program = name.removeprefix(PROGRAM)
            place = shutil.which(program)
            if (here.get(name) or (file_digest(Path(place)) if place else "")) != digest:
                raise InputError(
                    f"{asks}: the {program} that ran the command is not the one found here; put the same "
                    "program first on PATH, in the audit and here"
                )

    def _committed(self, record: Record) -> None:
        facts = record.provenance.target
        self._placed(record, "commit")
        if facts.commit != self.commit:
            raise InputError(
                f"commit: the record is from {facts.commit or 'an unknown commit'}; check out {self.commit}, "
                "and audit again"
            )
        if facts.dirty:
            differs = facts.differs or ()
            which = f" ({', '.join(differs[:3])})" if differs else ""
            raise InputError(
                f"commit: the record is from {facts.commit} with uncommitted changes{which}; commit the "
                "files that run and the files that they read, check out all others (and submodules), install "
                "packages from folders again, and "
                "audit again"
            )

    @staticmethod
    def _placed(record: Record, asks: str) -> None:
        """Refuse another file of the commit that has the same name in another folder."""
        target, named = record.provenance.target, record.target.source.path
        top, given = files.checkout(Path.cwd()) or Path.cwd(), Path(record.target.name.rpartition(":")[0])
        if named and given.suffix == ".py":  # which may take the code from a module of its package
            outside = [*itertools.takewhile(lambda part: part != Path(named).parts[0], given.parts)]
            folders = [Path(), Path(*outside)]
        else:
            folders = [Path(), *([] if target.twin else [top / "src"])]
        wanted, *others = (os.path.relpath(one / named, top).replace(os.sep, "/") for one in folders)
        if (there := target.place) is not None and there not in (wanted, *others):
            raise InputError(
                f"{asks}: the record is about {there}, but in this folder {named} means {wanted}; "
                "judge in the same folder of a checkout as the audit"
            )

    def _present(self, record: Record, asked: RequestEntry | None, source: Path) -> None:
        ran = asked.target.files if asked else {}
        known = {name: one for name, one in ran.items() if not name.startswith(PROGRAM)}
        with contextlib.chdir(source):
            whole = None if asked is None else asked.as_dict()
            begun = [Path(record.target.source.path)] if whole is None else asking.places_in(whole)
            if not begun:
                raise InputError(
                    f"source: {record.target.name} is not in {str(source)!r}; give the folder that "
                    "contains its package, such as src, or set PYTHONPATH"
                )
            for place in begun:
                if not place.resolve().is_relative_to(Path.cwd().resolve()):
                    raise InputError(
                        f"source: the record is about {str(place)!r}, which is not in {str(source)!r}; "
                        "audit it by a path or a module name that starts in that folder"
                    )
            if whole is None:
                known = {record.target.source.path: record.target.source.sha256}
                there = {name: file_digest(Path(name)) for name in known}
            else:
                there = {**asking.files_of(whole), **(tree(*begun) if TREE in known else {})}
            top, read_in = files.checkout(Path.cwd()), record.provenance.target
            if (
                top is not None
                and top != Path.cwd().resolve()
                and read_in.opened is not None
                and not read_in.commit
            ):
                raise InputError(
                    f"source: {str(source)!r} is only part of a repository, and the audit was made "
                    "outside any repository, so we do not know what the code read above this folder; "
                    "audit in a checkout"
                )
            root = Path("" if whole is None else asking.root_in(whole))
            if not Path.cwd().resolve().is_relative_to(root.resolve()):
                raise InputError(
                    f"source: the code is in {str(root)!r}, a repository within {str(source)!r}, so we do "
                    "not know what it read outside that repository; audit in that folder, and give it as "
                    "the source"
                )
            read = opened.read(record.provenance.target.opened or {})
            present = {name: opened.digest(root, name) for name in read}
        if not any(known.values()):
            raise InputError("source: the record does not name the files of its code")
        for name in sorted({*known, *there}, key=lambda name: (name == TREE, name)):
            if known.get(name) != there.get(name):
                what = "a file that git tracks" if name == TREE else name
                raise InputError(f"source: {what} differs from the file that was audited")
        for name in sorted(read):
            if read[name] != present[name]:
                if read[name] == opened.NOWHERE and name.startswith("../"):
                    raise InputError(
                        f"source: {name}, which the code read, is outside its repository, so we cannot "
                        "compare it; move it into the repository, and audit again"
                    )
                raise InputError(
                    f"source: {folders.said(name)}, which the code read, differs from the one read in the "
                    "audit"
                )
