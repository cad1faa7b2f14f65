"""Files of requests: `request.json`, written before any code of a target runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.requests import RequestEntry, checked
from verifiable_dp.record.verify import parsed

_LARGEST = 1 << 20  # bytes
_NAME = "request.json"
# Lines `what was asked`, tab, `why it has no record`; `ci/audit.sh` and tests note them for `judge`.
REASONS = "not-audited.txt"


def read(path: str | Path) -> RequestEntry:
    """The request in a file.

    Raises
    ------
    InputError
        If it cannot be read, does not fit its form, or was edited.
    """
    return checked(parsed(path, files.content("request", path, _LARGEST)))


Request = RequestEntry | str | os.PathLike[str] | None


def settled(given: Request, new: RequestEntry) -> RequestEntry:
    """The request that is answered: that in a file, or `new`, which is written there if there is none.

    Raises
    ------
    InputError
        If it asks something else than `new`: the first difference; or if it cannot be written.
    """
    if given is None:
        return new
    there, where = given, "it"
    if not isinstance(there, RequestEntry):
        place = files.located("request", given)
        if not os.path.lexists(place):
            files.write_text(place, new.written())
            return new
        there, where = read(place), repr(str(place))
    if why := there.difference(new):
        raise InputError(f"request: {where} asks a different question: {why}")
    return there


def is_request(path: Path) -> bool:
    """Whether a file has the name of one."""
    return path.name == _NAME or path.name.endswith(f".{_NAME}")


def beside(record: Path) -> Path:
    """Where the request of a record lies, if it lies beside it: `answer` the other way round."""
    return record.with_name(_NAME if record.stem == "record" else f"{record.stem}.{_NAME}")


def answer(request: Path) -> Path:
    """Where the record lies that answers a request."""
    return request.with_name(f"{request.name.removesuffix(_NAME).rstrip('.') or 'record'}.json")


def remove(what: str, folder: Path, named: re.Pattern[str]) -> None:
    """Remove the requests in a folder whose records have such names, those records, and their pages.

    Raises
    ------
    InputError
        If that cannot be done; `what` is the name of the argument.
    """
    for record in (answer(path) for path in folder.glob(f"*.{_NAME}")):
        if named.fullmatch(record.stem):
            drawn = (record.with_suffix(ending) for ending in (".html", ".svg"))
            files.remove(what, record, *drawn, beside(record))
