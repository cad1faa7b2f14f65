"""The files of a run of pytest: for each audit of a test its question, and then the answer.

Every run of pytest loads this module, so it imports nothing heavy before a fixture is used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from verifiable_dp.core.validate import JsonDict
    from verifiable_dp.record.requests import RequestEntry
    from verifiable_dp.report import Report

OURS = re.compile(r".+-[0-9a-f]{8}(-gw\d+)?(-\d+)?")  # names of records, see `stem`
_COUNT = pytest.StashKey[int]()  # audits that a test has begun


def stem(config: pytest.Config, nodeid: str) -> str:
    """Name of a test's files: readable, and no other test's, also where case or punctuation is lost."""
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", nodeid).strip("-")[:100]
    mark = hashlib.sha256(nodeid.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    worker = getattr(config, "workerinput", {})
    parts = [readable, mark, worker["workerid"] if worker.get("verifiable_dp_each") else ""]
    return "-".join(part for part in parts if part)


def folder(config: pytest.Config) -> Path | None:
    """The folder of ``--dp-report``, wherever tests change the working directory to; None without one."""
    given = config.getoption("--dp-report")
    return None if given is None else Path(config.invocation_params.dir, given)


def _note(config: pytest.Config, nodeid: str) -> Path | None:
    if (place := folder(config)) is None:
        return None
    from verifiable_dp.record.requested import REASONS

    return place / f"{stem(config, nodeid)}.{REASONS}"


def _notes(place: Path) -> list[Path]:
    from verifiable_dp.record.requested import REASONS

    found = place.glob(f"*.{REASONS}")
    return [path for path in found if OURS.fullmatch(path.name.removesuffix(f".{REASONS}"))]


def note(config: pytest.Config, nodeid: str, *, anew: bool = True) -> None:
    """Note for `judge`, in ``--dp-report``, that nothing was asked in a test yet.

    Not `anew` if this run has a note of the test already: a worker that takes the place of one that crashed
    collects tests that have audited their targets.
    """
    if (path := _note(config, nodeid)) is not None and (anew or not path.exists()):
        from verifiable_dp.core.files import make_folder, write_text

        make_folder("--dp-report", path.parent)
        write_text(path, f"{nodeid}\tit has not audited its target; see what pytest says of this test\n")


def settle(config: pytest.Config, nodeid: str) -> None:
    """Empty the note about a test."""
    if (path := _note(config, nodeid)) is not None and path.exists():
        path.write_bytes(b"")


def clear(config: pytest.Config) -> None:
    """Remove what an earlier run left in ``--dp-report``."""
    if (place := folder(config)) is not None:
        from verifiable_dp.core import files
        from verifiable_dp.record import requested

        requested.remove("--dp-report", place, OURS)
        files.remove("--dp-report", *_notes(place))


def finish(config: pytest.Config) -> None:
    """Remove notes that are empty."""
    if (place := folder(config)) is not None:
        from verifiable_dp.core import files

        files.remove("--dp-report", *(path for path in _notes(place) if not path.stat().st_size))


def ask(
    request: pytest.FixtureRequest,
    question: Callable[[], RequestEntry],
    options: JsonDict,
    require: str = "detectable",
) -> str:
    """Write the question of an audit before any code of its target runs; return the name of its files.

    The audit answers the request that is added to `options`. Whoever judges the record later requires what
    the test requires.
    """
    from verifiable_dp.core.files import make_folder, write_text
    from verifiable_dp.record import requested, requests

    begun = request.node.stash[_COUNT] = request.node.stash.get(_COUNT, 0) + 1
    name = stem(request.config, request.node.nodeid) + (f"-{begun}" if begun > 1 else "")
    place = folder(request.config)
    if place is not None or require != requests.REQUIRED[0]:
        new = requests.requiring(question(), require)
        options["request"] = requested.settled(options.get("request"), new)
    if place is not None:
        make_folder("--dp-report", place)
        write_text(requested.beside(place / f"{name}.json"), options["request"].written())
        settle(request.config, request.node.nodeid)
    return name


def save(request: pytest.FixtureRequest, report: Report, name: str, place: Path | None = None) -> str:
    """Write record and page into `place`, or that of ``--dp-report``; the path of the record, if any."""
    place = place or folder(request.config)
    if place is None:
        return ""
    path, _ = report.save(place, name)
    try:  # as it is named from where pytest was started, and in another checkout
        return str(path.relative_to(request.config.invocation_params.dir))
    except ValueError:
        return str(path)


def keep(request: pytest.FixtureRequest, report: Report, name: str) -> str:
    """As `save`, among the test's temporary files: for failures, so that no other test gets a folder."""
    return save(request, report, name, Path(request.getfixturevalue("tmp_path")))
