"""How long a run of a user's code may take, kept by a timer in the process that runs it."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from verifiable_dp.core import watch
from verifiable_dp.core.validate import InputError


class OverdueError(BaseException):
    """A call took too long. Not an `Exception`, so that the target does not catch it."""


class LateError(InputError):
    """That a run took too long: asked again, it would take as long."""


@contextlib.contextmanager
def limited(seconds: float = math.inf, what: str = "target", runs: int = 1) -> Iterator[None]:
    """Refuse the target if the block, `runs` runs of `seconds` each or of what is `usual`, takes longer.

    That needs the main thread and a system with interval timers; elsewhere, and within a block that is
    limited already, there is no limit. A timer of someone else goes on afterwards. Where the target keeps the
    timer from ending the block, the parent of the audit ends its process: see `watch`.

    Raises
    ------
    InputError
        If it took longer, also where the target has caught what ended the call.
    """
    main = threading.current_thread() is threading.main_thread()
    whole = min(seconds, _Limited.usual) * runs
    if not (main and math.isfinite(whole) and hasattr(signal, "setitimer")) or _Limited.inside:
        yield
        return
    handler, calls = signal.signal(signal.SIGALRM, _overdue), watch.own()
    started = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, min(whole, _LONGEST))
    _Limited.inside, _Limited.over = True, False
    if calls:
        calls.begin(whole)
    try:
        yield
    except BaseException as error:  # the target may have made another one of ours
        if isinstance(error, KeyboardInterrupt) or not _Limited.over:
            raise
    finally:
        if calls:
            calls.end()
        _Limited.inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 1e-3), interval)
    if _Limited.over:
        each = "" if runs == 1 else f" for {runs} runs"
        raise LateError(late(what, whole, each))


def late(what: str, seconds: float, more: str = "") -> str:
    """What is said of a call that took longer than it may."""
    return (
        f"{what} did not return within {seconds:g} seconds{more}; if it needs longer, allow more time "
        "with --timeout SECONDS (timeout= in Python)"
    )


class _Limited:
    """Whether a limit is on, whether it was exceeded, and the most that a run may be given."""

    inside = False
    over = False
    usual = math.inf


@contextlib.contextmanager
def usual(seconds: float) -> Iterator[None]:
    """In this block no run of the target may take longer, whoever makes it in this process."""
    before, _Limited.usual = _Limited.usual, seconds
    try:
        yield
    finally:
        _Limited.usual = before


_LONGEST = 1e8


def _overdue(number: int, frame: FrameType | None) -> None:
    _Limited.over = True
    raise OverdueError
