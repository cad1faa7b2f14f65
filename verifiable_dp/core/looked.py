"""Questions about files that open none, of which Python's audit hooks do not hear: we hear them, too.

A function that stands for one of `os` tells who listens of the call, as the hooks do, and makes it. What
Python itself asks as it imports does not come this way.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import ClassVar

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign, Function

Hear = Callable[[str, tuple[Foreign, ...]], None]  # an event, and what it is told of
_NAMES = ("stat", "lstat", "access", "readlink", "mkfifo", "mknod", "openpty")
_SETS = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids)
_GIVEN = ("path", "mode")  # names of what an event is told of
# Functions that tell of a file what is not in it, or of a path only which links are on the way.
DATES = {None, *(one.__code__ for one in (os.path.getmtime, os.path.getatime, os.path.getctime))}
DATES |= {Path.stat.__code__, Path.lstat.__code__}
WAYS = {os.path.realpath.__code__, Path.resolve.__code__}


class _Heard:
    """The functions of `os` that others stand for, and the code of all of these."""

    real: ClassVar[dict[str, Foreign]] = {}
    code: CodeType | None = None


def listen(hear: Hear) -> None:
    """Tell `hear` of each call from now on: ``os.`` and its name, path, mode, and whether a folder is given.

    Code that took such a function before goes on without us.
    """
    for name in _NAMES:
        real = _Heard.real.setdefault(name, getattr(os, name, None))
        if real is None:  # another system
            continue
        ours = _standing_for(real, f"os.{name}", hear)
        _Heard.code = ours.__code__
        for kinds in _SETS:  # of these, code asks which can do what
            kinds |= {ours} if real in kinds else set()
        setattr(os, name, ours)


def end() -> None:
    """Put the functions of `os` back."""
    for name, real in _Heard.real.items():
        if real is not None:
            setattr(os, name, real)


def stands(frame: FrameType) -> bool:
    """Whether a frame is that of a function that stands for another one."""
    return frame.f_code is _Heard.code


def called(frame: FrameType | None) -> CodeType | None:
    """The function of Python's library that code has called here; None if it asks the system itself."""
    code = None
    while frame is not None and (stands(frame) or paths.of_python(frame.f_code.co_filename)):
        code = code if stands(frame) else frame.f_code
        frame = frame.f_back
    return code


def what(frame: FrameType) -> Foreign:
    """The function for which that one stands."""
    return frame.f_locals.get("real")


def _standing_for(real: Foreign, event: str, hear: Hear) -> Function[Foreign]:
    @functools.wraps(real)
    def asked(*given: Foreign, **more: Foreign) -> Foreign:
        path, mode = (given[at] if at < len(given) else more.get(name) for at, name in enumerate(_GIVEN))
        hear(event, (path, mode, "dir_fd" in more))
        return real(*given, **more)

    return asked
