"""What was asked of an audit: written before any code of the target runs, and compared with what is answered.

The parent of an audit writes it; a record holds a copy in its provenance. Whoever judges brings the request,
and takes nothing for granted that the record says of itself.
"""

from __future__ import annotations

import calendar
import secrets
import time
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.fields import Count, Text, said
from verifiable_dp.record import sealing
from verifiable_dp.record.entries import Instant, RecordEntry, Sealed, Sha256

REQUIRED = ("detectable", "tested-paths", "every-path", "certified")  # each asks for more than the one before
REQUEST_VERSION = "request-1.0.0"
_STAMP = "%Y-%m-%dT%H:%M:%SZ"
_OF_ONE = ("made", "nonce", "digest", "require")  # in which two requests may differ that are answered alike
_OF_CODE = ("code", "packages")  # what ran, beside the files of the target


class AskedTarget(RecordEntry, frozen=True):
    """What is to be audited, and the bytes that run when it is loaded."""

    name: Text
    kind: Literal["catalogue", "algorithm", "code", "command", "object"]
    parameters: Json
    files: Annotated[
        Mapping[str, Sha256],
        said(
            "SHA-256 of the files that run, by their path from the folder of the first one; of a command "
            "also one over all files of the commit, as they are in its repository, under a dot, and those "
            "of the programs that start it, by their names after a $."
        ),
    ]


class RequestEntry(RecordEntry, frozen=True):
    """What was asked of an audit, before any code of the target ran."""

    schema_version: Annotated[str, Meta(extra_json_schema={"const": REQUEST_VERSION})]
    question: Literal["audit", "regret", "evidence"]
    target: AskedTarget
    claim: Annotated[Json, said("The parts of the promise, or of the claims about regret, that were given.")]
    inputs: Annotated[Json, said("The inputs on which the target is run.")]
    plan: Annotated[Json, said("How it is tested.")]
    level: Annotated[Json, said("alpha and confidence.")]
    seed: Count
    declarations: Json | None
    code: Annotated[Sha256, said("SHA-256 over the code of the package that received the request.")]
    packages: Annotated[
        Sealed, said("SHA-256 over names, versions and lists of files of the packages that were present.")
    ]
    made: Instant
    nonce: Annotated[str, Meta(pattern="^[0-9a-f]{32}$", description="No two requests have the same.")]
    digest: Sealed
    require: Annotated[
        Literal["tested-paths", "every-path", "certified"] | None,
        said("Weakest evidence that counts as enough; absent if samples are."),
    ] = None

    def difference(self, other: RequestEntry, *, of_code: bool = True) -> str:
        """Where another request asks something else, in words; empty if both ask the same.

        Every field counts, those that say which code runs only if `of_code`.
        """
        mine, theirs = self._compared(of_code), other._compared(of_code)
        for key in sorted({*mine, *theirs}):
            if mine.get(key) != theirs.get(key):
                return _first(key, mine.get(key), theirs.get(key))
        return ""

    def _compared(self, of_code: bool) -> JsonDict:
        apart = _OF_ONE if of_code else (*_OF_ONE, *_OF_CODE)
        found = {key: value for key, value in self.as_dict().items() if key not in apart}
        return found if of_code else {**found, "target": {**found["target"], "files": {}}}

    def written(self) -> str:
        """The content of its file."""
        return sealing.text(self.as_dict())


def requiring(asked: RequestEntry, require: str) -> RequestEntry:
    """The same request, for which evidence counts as enough from `require` on (one of `passing.REQUIRED`)."""
    if require == REQUIRED[0]:
        return asked
    return RequestEntry.of(sealing.sealed({**asked.as_dict(), "require": require}))


def _first(place: str, mine: object, theirs: object) -> str:
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        for key in sorted({*mine, *theirs}):
            if mine.get(key) != theirs.get(key):
                return _first(f"{place}.{key}", mine.get(key), theirs.get(key))
    return f"{place} is {_short(mine)} there, and {_short(theirs)} here"


def _short(value: object) -> str:
    return repr(value)[:80]


def made(asked: Json, declarations: Json | None) -> RequestEntry:
    """A new request of what `auditing.asking` gives."""
    return RequestEntry.of(
        sealing.sealed(
            {
                "schema_version": REQUEST_VERSION,
                **asked,
                "declarations": declarations,
                "made": time.strftime(_STAMP, time.gmtime()),
                "nonce": secrets.token_hex(16),
            }
        )
    )


def checked(values: Json) -> RequestEntry:
    """A request whose digest holds.

    Raises
    ------
    InputError
        If it does not.
    """
    if values.get("schema_version") != REQUEST_VERSION:
        raise InputError(
            f"request: schema_version must be {REQUEST_VERSION}, got {_short(values.get('schema_version'))}"
        )
    if values.get("digest") != sealing.digest(values):
        raise InputError("request: edited or corrupted (its digest does not match its values)")
    return RequestEntry.of(values)


def seconds(instant: str) -> int:
    """Seconds since the epoch of an instant."""
    return calendar.timegm(time.strptime(instant, _STAMP))


def asked_of(record: Json) -> RequestEntry | None:
    """The request that a record says it answers, whose digest holds; None if it names none.

    Raises
    ------
    InputError
        If the digest of the copy does not hold.
    """
    values = record["provenance"].get("request")
    return None if values is None else checked(values)
