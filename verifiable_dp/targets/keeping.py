"""What the parent of an audit asks of the system while code of a target runs (Linux).

Its memory, its environment and its open files are closed to other processes of its user, and what outlives
the child that started it, such as a daemon, becomes a child of the parent, which ends it before it writes a
record.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from verifiable_dp.core import watch
from verifiable_dp.core.validate import InputError

_SET_DUMPABLE, _GET_DUMPABLE, _SET_SUBREAPER, _GET_SUBREAPER = 4, 3, 36, 37
_PATIENCE = 5.0  # seconds in which what was killed has to be gone
_TICK = 0.01
_LOCK = threading.Lock()


class _Audits:
    """Children that run code of targets in this process, and what ran before the first of them."""

    running = 0
    before: frozenset[int] = frozenset()
    dumpable = 1
    subreaper = 0


def _prctl(option: int, value: object = 0) -> int:
    try:
        return int(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0))
    except (AttributeError, OSError):
        return -1


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within this block code of a target runs in a child; afterwards nothing of it does."""
    if not sys.platform.startswith("linux"):
        yield
        return
    with _LOCK:
        if not _Audits.running:
            adopts = ctypes.c_int(0)
            _prctl(_GET_SUBREAPER, ctypes.byref(adopts))
            _Audits.subreaper, _Audits.dumpable = adopts.value, _prctl(_GET_DUMPABLE)
            _Audits.before = frozenset(watch.descendants(os.getpid()))
            _prctl(_SET_SUBREAPER, 1)
            _prctl(_SET_DUMPABLE, 0)
        _Audits.running += 1
    try:
        yield
    finally:
        with _LOCK:
            _Audits.running -= 1
            if not _Audits.running:  # whose a process is that has outlived its parent nobody knows
                _end_strays()
                _prctl(_SET_SUBREAPER, _Audits.subreaper)
                _prctl(_SET_DUMPABLE, max(0, _Audits.dumpable))


def open_again() -> None:
    """In the child, which may be looked into: what it may read of itself is its own."""
    if sys.platform.startswith("linux"):
        _prctl(_SET_DUMPABLE, 1)


def _end_strays() -> None:
    """Kill what a child has left behind, and reap it.

    Raises
    ------
    InputError
        If it cannot be ended.
    """
    end = time.monotonic() + _PATIENCE
    while strays := _strays():
        if time.monotonic() > end:
            raise InputError("target: we could not end the processes that its code started")
        for process, ended in strays.items():
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.waitpid(process, os.WNOHANG) if ended else os.kill(process, signal.SIGKILL)
        time.sleep(_TICK)


def _strays() -> dict[int, bool]:
    """Processes below this one that a child has started, and whether they have ended and wait to be reaped.

    The child began a session of its own, and nobody can come back into that of the parent.
    """
    own, session, rows = os.getpid(), os.getsid(0), dict[int, tuple[str, int, int]]()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{int(name)}/stat", encoding="utf-8", errors="replace") as file:
                found = file.read().rpartition(")")[2].split()
            rows[int(name)] = (found[0], int(found[1]), int(found[3]))
    strays, left = dict[int, bool](), [own]
    while left:
        above = left.pop()
        for process, (state, parent, its) in rows.items():
            if parent == above:
                left.append(process)
                if its != session and process not in _Audits.before and (state != "Z" or parent == own):
                    strays[process] = state == "Z"
    return strays
