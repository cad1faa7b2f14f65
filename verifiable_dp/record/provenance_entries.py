"""Where a record comes from, as it states it; `provenance` finds that out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from verifiable_dp.evidence.fields import AtLeastOne, Count, Text, said
from verifiable_dp.record.entries import Instant, RecordEntry, Sha256
from verifiable_dp.record.requests import RequestEntry

Commit = Annotated[str, Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})?$")]


class Checkout(RecordEntry, frozen=True):
    """Repository and commit of a file, empty where it is in none, and whether it differs from that commit."""

    repository: str
    commit: Commit
    dirty: bool
    place: Annotated[
        str | None, said("Path of the audited file from the top of its repository; absent if it is in none.")
    ] = None
    folder: Annotated[
        str | None,
        said(
            "Folder in which the audit ran, from the top of the repository, if the code opened a file by a "
            "path that begins there; absent if it did not, or is in no repository."
        ),
    ] = None
    twin: Annotated[
        bool | None,
        said("True if the file is below src and the commit has one of the same path without src, too."),
    ] = None
    opened: Annotated[
        Mapping[str, Sha256] | None,
        said(
            "SHA-256 of the files that the code read or imported while it ran, by their path from its "
            "repository, or from the current folder; of a link on the way to one, by its path and a slash, "
            "the SHA-256 of where it leads. 64 zeros stand for a file that we could not find, 64 letters f "
            "for one that the code wanted to open and that was not there. After ./ are paths that a cage "
            "refused (64 letters e), variables that we hid ($, d), modules that could not be loaded (c) and "
            "files that the code looked for beside the program that runs (a), after ././ the paths from "
            "the current folder that the code gave (b). A folder and * stand for the names in a folder that "
            "the code listed. ./$ and a name stand for an environment variable that the code asked for: the "
            "SHA-256 of NAME=value, or 64 letters f if it was not set; ./$* for the names of all. Not of "
            "what other programs or worker processes, and libraries by code that is not Python's, have "
            "opened. "
            "Absent from older records."
        ),
    ] = None
    differs: Annotated[
        tuple[Text, ...] | None,
        said(
            "Files that ran or were read and differ from the commit, and of those that are missing at most "
            "twenty; absent if there are none."
        ),
    ] = None
    filtered: Annotated[
        tuple[Text, ...] | None,
        said(
            "Files that ran or were read and that git changes as it checks them out, as its attributes say; "
            "not one that Git LFS brought as its pointer says. Absent if there are none."
        ),
    ] = None


class Ci(RecordEntry, frozen=True):
    """Which continuous integration ran an audit, and where its log is."""

    provider: Text
    run_url: Text | None


class CountedElsewhere(RecordEntry, frozen=True):
    """How runs were counted outside the process of the audited code."""

    asked_again: Annotated[Count, said("Runs that a fresh process was asked for again, and compared.")]
    key: Annotated[
        Text | None,
        said(
            "Key that decides which runs were repeated, and how runs were split again into those that "
            "choose an event and those that are counted; the target's code never had it. Absent in older "
            "records."
        ),
    ] = None


class Resumed(RecordEntry, frozen=True):
    """Number of finished steps read from a checkpoint."""

    steps: AtLeastOne


class IgnoredEntry(RecordEntry, frozen=True):
    """A finding that a comment in the audited code says to ignore, and why."""

    code: Text
    file: Text
    line: AtLeastOne
    reason: Text


class Provenance(RecordEntry, frozen=True):
    """Where a record comes from: versions, machine, time and command."""

    tool: Literal["verifiable-dp"]
    version: Text
    command: str
    python: str
    packages: Mapping[str, str]
    platform: str
    cores: Count
    started: Instant
    finished: Instant
    cpu_seconds: Annotated[float, Meta(ge=0)]
    commit: Annotated[str, Meta(pattern="^([0-9a-f]{40})?$")]
    dirty: bool
    bit_generator: Text
    idealized_numerics: Annotated[bool, said("Whether noise was treated as real numbers rather than floats.")]
    target: Annotated[Checkout, said("Of the audited file.")]
    ci: Ci | None
    code: Annotated[Sha256 | None, said("SHA-256 over the code of the package that made this.")] = None
    in_process: Annotated[
        Text | None,
        said(
            "Why the audited code ran in the process of the audit, which it then can end or change; absent "
            "if it did not."
        ),
    ] = None
    ran_before: Annotated[
        Text | None,
        said(
            "A file of the code that had run in the process of which the audit's was a copy, and may have "
            "changed what it found; absent if there was none."
        ),
    ] = None
    cage: Annotated[
        tuple[Text, ...] | None,
        said("Isolation of the audited code, as far as the system allowed; absent if there was none."),
    ] = None
    counted: Annotated[
        CountedElsewhere | None,
        said(
            "Present if events were chosen and their hits counted outside the process of the audited code; "
            "for everything else in a check we rely on that process."
        ),
    ] = None
    resumed: Annotated[Resumed | None, said("Present if an interrupted audit was continued.")] = None
    ignored: Annotated[
        tuple[IgnoredEntry, ...] | None,
        said("Findings that comments in the audited code say to ignore; absent if there are none."),
    ] = None
    request: Annotated[
        RequestEntry | None,
        said("The request, written before any code of the target ran; absent in older records."),
    ] = None
