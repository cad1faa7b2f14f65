"""Which files of a folder code reads or imports while it runs, by their digests.

What is imported by a computed name, and data that are read, is not found by reading the code. Python tells of
each file that it opens. It does not tell what other programs or worker processes open, nor libraries by code
that is not Python's, nor of names and dates of files.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from verifiable_dp.core import pinned_source
from verifiable_dp.core.engine import Passed
from verifiable_dp.targets.source import file_digest

# Which argument of an event of Python's names a file; the name of a module's is that of an extension.
_EVENTS = {"open": 0, "import": 1, "ctypes.dlopen": 0, "sqlite3.connect": 0}
_OURS = str(Path(__file__).parents[1]) + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_HELD = pinned_source.__file__
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


class _Listening:
    """What is noted in this process; Python cannot be told to stop telling."""

    begun, busy = False, False
    root = ""
    found: dict[str, str]


def begin(root: str) -> dict[str, str]:
    """Note from now on what is read below a folder: paths from there, and SHA-256, as they come."""
    _Listening.root, _Listening.found = root, {}
    if root and not _Listening.begun:
        _Listening.begun = True
        sys.addaudithook(_hear)
    return _Listening.found


@contextmanager
def noted(root: str) -> Iterator[dict[str, str]]:
    """As `begin`, within a block; nothing new if there is no folder."""
    if not root:
        yield {}
        return
    try:
        yield begin(root)
    finally:
        _Listening.root = ""


def _hear(event: str, given: tuple[Passed, ...]) -> None:
    """Hear of something that Python does."""
    if event not in _EVENTS or _Listening.busy or not _Listening.root:
        return
    place = given[_EVENTS[event]]
    if isinstance(place, int | None) or (event == "open" and given[2] & _ACCESS == os.O_WRONLY):
        return
    _Listening.busy = True
    try:
        with suppress(OSError, TypeError, ValueError):
            _note(os.fsdecode(place))
    finally:
        _Listening.busy = False


def _note(place: str) -> None:
    root, found = _Listening.root, _Listening.found
    file = os.path.abspath(place)
    if not file.startswith(root + os.sep):
        file = os.path.realpath(place)
    name = os.path.relpath(file, root).replace(os.sep, "/")
    name = name.encode("utf-8", "backslashreplace").decode()
    if name in found or not file.startswith(root + os.sep) or not os.path.isfile(file):
        return
    if ".git" in name.split("/") or pinned_source.installed(Path(file).parent) or _for_us():
        return
    found[name] = file_digest(Path(file))


def _for_us() -> bool:
    """Whether this program opens a file, rather than code that it runs or a library of that."""
    frame = sys._getframe(3)
    while frame is not None:
        file = frame.f_code.co_filename
        library = file.startswith((_STDLIB, "<frozen ")) and "site-packages" not in file
        if not library and file != _HELD:
            return file.startswith(_OURS)
        frame = frame.f_back  # type: ignore[assignment]
    return False
