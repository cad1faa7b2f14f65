"""Until when the calls that are under way may take: memory that all processes of an audit's code share.

Code that is called can keep its own process from ending the call: by a signal that it blocks, an exception
that it catches, a long call of C, or by stopping the process. So each process notes here until when a call
may take, and the parent of the audit, where none of that code runs, ends the audit of one that is overdue.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

NAME = "VERIFIABLE_DP_CALLS"  # variable of the environment that names the memory; processes inherit it
CAGED = "VERIFIABLE_DP_CAGED"  # is set where a process has numbers that are not those of its parent's system
_PLACE = struct.Struct("qdd")  # process, when its call is overdue (0: it makes none), seconds it may take
_PLACE_TYPE = np.dtype([("process", np.int64), ("due", np.float64), ("seconds", np.float64)])
_PLACES = 4096  # more than there are workers; a process has that of its number


class OwnCalls:
    """The memory, for a process that makes calls.

    Parameters
    ----------
    path
        At which this process, and what it starts, can open it.
    """

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _PLACES * _PLACE.size)
        self.path = path

    def begin(self, seconds: float) -> None:
        """Note that this process begins a call that may take so long."""
        self._write(time.monotonic() + seconds, seconds)

    def end(self) -> None:
        """Note that the call has ended."""
        self._write(0.0, 0.0)

    def _write(self, due: float, seconds: float) -> None:
        process = os.getpid()
        named = -process if CAGED in os.environ else process
        _PLACE.pack_into(self._memory, process % _PLACES * _PLACE.size, named, due, seconds)


@dataclass(frozen=True)
class WatchedCalls:
    """The memory, for who looks after the calls; a copy of that process can neither see nor change it.

    Parameters
    ----------
    handle
        It is open there.
    path
        Where it is a file: elsewhere than on Linux.
    """

    handle: int
    path: str = ""

    @property
    def place(self) -> str:
        """Where this process, and what it starts, finds it."""
        return self.path or f"/proc/{os.getpid()}/fd/{self.handle}"

    def overdue(self, grace: float) -> tuple[int, float] | None:
        """A process whose call is overdue by more than `grace` seconds, and how long it may take.

        It is read: whoever touches memory of a file that code of a target has cut ends by SIGBUS.
        """
        late, noted = time.monotonic() - grace, os.pread(self.handle, _PLACES * _PLACE.size, 0)
        calls = np.frombuffer(noted[: len(noted) // _PLACE.size * _PLACE.size], _PLACE_TYPE)
        for process, _, seconds in calls[(calls["due"] > 0) & (calls["due"] < late)].tolist():
            if process < 0 or _exists(process):  # one that was killed has ended no call
                return process, seconds
        return None


def new_file(prefix: str) -> tuple[int, str]:
    """A new temporary file, open, for this user alone, and its path.

    `tempfile` draws names from a generator of the process, which an audit may be watching.
    """
    for number in itertools.count(time.monotonic_ns()):
        path = os.path.join(tempfile.gettempdir(), f"{prefix}{os.getpid()}-{number}")
        with contextlib.suppress(FileExistsError):
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), path
    raise AssertionError("numbers do not end")


@contextlib.contextmanager
def shared() -> Iterator[WatchedCalls]:
    """New memory, which ends with the block and what has it open; its size stays as it is."""
    if sys.platform == "linux" and os.path.isdir("/proc/self/fd"):
        import fcntl

        handle, path = os.memfd_create("verifiable-dp-calls", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), ""
        os.truncate(handle, _PLACES * _PLACE.size)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    else:
        handle, path = new_file("verifiable-dp-calls-")
        os.truncate(handle, _PLACES * _PLACE.size)
    try:
        yield WatchedCalls(handle, path)
    finally:
        os.close(handle)
        if path:
            os.unlink(path)


class _Own:
    """The memory of the audit that this process belongs to."""

    calls: OwnCalls | None = None


def own() -> OwnCalls | None:
    """The memory of the audit that this process belongs to; None in the parent, or where there is none."""
    path = os.environ.get(NAME, "")
    if (_Own.calls.path if _Own.calls else "") != path:
        _Own.calls = None
        with contextlib.suppress(OSError, ValueError):
            _Own.calls = OwnCalls(path) if path else None
    return _Own.calls


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # or a number that code of a target has written
        return False
    except PermissionError:
        pass
    return True


def descendants(process: int) -> list[int]:
    """Processes that a process has started, and those that they have, as far as /proc tells."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{int(name)}/stat", encoding="utf-8", errors="replace") as file:
                state, parent, *_ = file.read().rpartition(")")[2].split()
            if state != "Z":
                parents[int(name)] = int(parent)
    found, left = list[int](), [process]
    while left:
        above = left.pop()
        below = [one for one, parent in parents.items() if parent == above]
        found += below
        left += below
    return found
