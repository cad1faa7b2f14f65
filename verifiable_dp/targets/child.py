"""A user's code in a child process, so that nothing the code does can end an audit with a verdict.

What the child says is read by `line`. What is written to its descriptors 1 and 2 goes to stderr as
`guard.Shown` shows it. It is not a sandbox: the code has the rights of whoever audits it, and code that
looks for the pipe finds it.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, NoReturn, cast

from verifiable_dp.core import engine, paths, plugins, watch
from verifiable_dp.core.steering import WITHHELD, environment_of_ours, steering, withheld
from verifiable_dp.core.validate import Foreign, InputError, Json, JsonValue, Result, one_line
from verifiable_dp.evidence.tracing.foreign import settle
from verifiable_dp.targets import guard, keeping, loaded, opened, variables
from verifiable_dp.targets.cage import Caged, Walls
from verifiable_dp.targets.line import (
    ChildLine,
    Clock,
    EndedError,
    Frame,
    Progress,
    Questions,
    how_ended,
    reaped,
    told,
    until_last_word,
)
from verifiable_dp.targets.measured import Measured, measured

Task = Callable[[Progress], JsonValue]  # what it gives is sent as JSON
Ask = Callable[[Json, Iterable[Frame]], bytes]  # nothing: nothing more is asked
Serve = Callable[[Ask], JsonValue]  # answers what it is asked, until it is asked nothing more
POSSIBLE = hasattr(os, "waitid")  # whether a child can be watched on this system
_START = "from verifiable_dp.targets.child import main; main()"
_KEPT: list[object] = []  # streams of the parent: one that nobody has any more closes its descriptor
_OPENED: list[dict[str, str]] = []  # what code reads in this child, once it runs there
_WITHHELD: list[str] = []  # names of variables that it does not get
_TOLD: dict[str, str] = {}  # of what is there
_leave, _dumps = os._exit, json.dumps  # as they are before code of a target runs


@dataclass(frozen=True)
class _Handed:
    """What a child is given: see `call`, with its ends of the pipes."""

    task: Task | Serve
    channel: int
    output: int
    replies: int
    coverage: Measured | None
    caged: Caged
    serves: bool
    calls: watch.WatchedCalls


def unforkable() -> str:
    """Why this process cannot be forked safely; empty if it can be.

    A fork copies one thread only: what another one has locked stays locked for ever.
    """
    if not sys.platform.startswith("linux"):
        return "because a process cannot be forked safely on this system"
    if threading.active_count() > 1:
        return "because other threads are running"
    if _native_threads() > 0:
        return "because a library has started threads"
    return ""


def _native_threads() -> int:
    """Threads of this process that are neither Python's nor OpenBLAS's, which it ends before a fork."""
    from threadpoolctl import threadpool_info

    blas = (pool for pool in threadpool_info() if pool.get("threading_layer") == "pthreads")
    known = len(sys._current_frames()) + sum(pool["num_threads"] - 1 for pool in blas)
    return len(os.listdir("/proc/self/task")) - int(known)


def call(
    task: Task,
    progress: Progress,
    most: float = math.inf,
    caged: Caged | None = None,
    fresh: bool = False,
) -> JsonValue:
    """What `task` returns in a child process: JSON values.

    Parameters
    ----------
    task
        Called with a function that takes lines of progress. It has to be picklable where this process is
        `unforkable`, or the child is to be `fresh`: there it is a new Python.
    progress
        Called with each line of progress, marked as a line that a target prints: code may have sent it.
    most
        Seconds that it may take.
    caged
        What the child is kept from, see `cage`; what of it was taken is noted there.

    Raises
    ------
    InputError
        If `task` raises it, or if the child gives no answer: one line that says how it ended. Also if the
        time of one of its calls or that of the whole is over.
    CrashedError
        If `task` raises anything else.
    """
    with _begun(task, progress, most, caged or Caged(), fresh=fresh) as line:
        found = line.answers()
    return told(found, line.status)


def served(
    serve: Serve,
    conduct: Callable[[Questions], Result],
    most: float = math.inf,
    caged: Caged | None = None,
) -> tuple[Result | None, JsonValue]:
    """What `conduct` makes of a child's answers, and what `serve` returns in it.

    Parameters
    ----------
    serve
        Called in the child with what asks this process for the next question: each answer is the message that
        asks for the next one.
    conduct
        Called here with what asks the child, once that asks for a question; if it never does, what it
        makes is None.
    most, caged
        See `call`.

    Raises
    ------
    InputError, CrashedError
        As `call`, and what `conduct` raises.
    """
    made = None
    try:
        with until_last_word(), _begun(serve, None, most, caged or Caged()) as line:
            questions = Questions(line)
            questions.ready = questions.answer()
            made = conduct(questions)
            questions.close()
    except EndedError as error:
        raise InputError(str(error) or f"target: {how_ended(line.status)}; there is no verdict") from None
    return made, told(questions.ended, line.status)


@contextlib.contextmanager
def _begun(
    task: Task | Serve,
    progress: Progress | None,
    most: float,
    caged: Caged,
    *,
    fresh: bool = False,
) -> Iterator[ChildLine]:
    """The line to a child that does a task; it has ended after the block, and the line knows its status.

    One without progress serves.
    """
    start = _spawned if fresh or unforkable() else _forked
    ends = [*os.pipe(), *os.pipe(), *os.pipe()]
    channel, channel_in, output, output_in, replies, reply = ends
    try:
        for stream in (sys.stdout, sys.stderr):  # what they still hold would be written twice
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        with watch.shared() as calls, measured() as coverage, keeping.kept():
            handed = _Handed(task, channel_in, output_in, replies, coverage, caged, progress is None, calls)
            pid = start(handed)
            line = ChildLine(pid, (channel, output, reply), progress, Clock(calls, most), caged)
            try:
                for end in (channel_in, output_in, replies):
                    ends.remove(end)
                    os.close(end)
                with line.open():
                    yield line
            finally:
                line.status = reaped(pid)
    finally:
        for end in ends:
            os.close(end)


def _forked(given: _Handed) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: `unforkable` has looked at them
        pid = os.fork()
    if pid == 0:
        _serve(given)
    return pid


def _spawned(given: _Handed) -> int:
    """A new Python, which is given the task on its stdin."""
    # The path first: by it the task is found.
    sent = b"".join(pickle.dumps(part) for part in (paths.of_targets(), replace(given, output=1)))
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START],
        env=environment_of_ours(),
        stdin=subprocess.PIPE,
        stdout=given.output,
        stderr=given.output,
        pass_fds=[end for end in (given.channel, given.replies, given.calls.handle) if end >= 0],
    )
    process.returncode = 0  # `line.reaped` reaps it
    with contextlib.suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as pipe:
        pipe.write(sent)
    return process.pid


# ---------------------------------------------------------------- in the child


def main() -> None:
    """Serve the task on stdin; the start of a child that was not forked."""
    with open(0, "rb", closefd=False) as pipe:
        sys.path[:] = pickle.load(pipe)
        given = pickle.load(pipe)
    os.set_inheritable(given.calls.handle, False)
    _serve(given)


def _serve(given: _Handed) -> NoReturn:
    """Do the task, tell what it gave, and end this process, whatever happens."""
    status, channel = 1, given.channel
    try:
        _settle(channel, given.output, given.replies, given.calls.handle)
        meter = None if given.coverage is None else given.coverage.begin()
        with open(given.replies, "rb", closefd=False) as replies:
            os.set_inheritable(given.replies, False)
            told: Foreign = functools.partial(_tell, channel)
            to_parent = functools.partial(_ask, channel, replies) if given.serves else told
            answer = _answered(functools.partial(_caged, given, to_parent))
        _tell_opened(channel)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        _send(channel, answer)
        status = 0
        engine.close()
        if meter is not None:
            meter.stop()
            meter.save()
    finally:
        _leave(status)


def _ask(channel: int, replies: IO[bytes], message: Json, frames: Iterable[Frame]) -> bytes:
    """Send the parent a message with frames after it, and return what it answers."""
    _tell_opened(channel)
    _send(channel, {"asks": message})
    try:
        for header, content in frames:
            _send(channel, {**header, "bytes": len(content)})
            _write(channel, content)
    except BaseException:
        _send(channel, {"stopped": True})
        raise
    return replies.read(int.from_bytes(replies.read(8), "little"))


def _tell_opened(channel: int) -> None:
    """Tell the parent what the code has read, before what it has made of that."""
    opened.note_failed()
    for read in _OPENED[-1:]:
        if (now := dict(read)) != _TOLD:
            _send(channel, {"opened": now})
            _TOLD.update(now)


def _tell(channel: int, line: str) -> None:
    _send(channel, {"progress": line})


def _caged(given: _Handed, to_parent: Foreign) -> JsonValue:
    """What the task gives within the cage, which is told before any code of a target runs."""
    if taken := given.caged.enter():
        _send(given.channel, {"cage": taken})
    walls = Walls.of(taken)
    os.environ[watch.NAME] = given.calls.place
    _OPENED.append(opened.begin(given.caged.root, sys._getframe(), walls, given.caged.tracked))
    variables.listen(_WITHHELD)
    loaded.hear_path()
    return given.task(to_parent)


def _settle(channel: int, output: int, replies: int, calls: int) -> None:
    """A session, streams, signals and an environment of its own."""
    guard.Child.inside = True
    keeping.open_again()
    settle()
    with contextlib.suppress(OSError):
        os.setsid()  # nothing of the terminal is left to it, and it can be ended with what it starts
    null = os.open(os.devnull, os.O_RDONLY)
    for end, place in ((null, 0), (output, 1), (output, 2)):
        os.dup2(end, place)
    _hang_up(null, {channel, replies, calls})
    _forget_trackers()
    os.set_inheritable(channel, False)  # another program in its place has no channel
    taken = io.TextIOWrapper(io.FileIO(0, closefd=False))
    out = io.FileIO(1, "w", closefd=False)
    shown = io.TextIOWrapper(out, "utf-8", "backslashreplace", line_buffering=True)
    for name, stream in (("stdin", taken), ("stdout", shown), ("stderr", shown)):
        for whole in (name, f"__{name}__"):
            _KEPT.append(getattr(sys, whole))
            setattr(sys, whole, stream)
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _WITHHELD.extend(withheld())
    paths.restore()
    for name in [*steering(os.environ), WITHHELD]:
        os.environ.pop(name, None)
    os.environ[plugins.ALLOWED] = "*"  # this process, and its workers, are where code of targets runs
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent


def _hang_up(null: int, kept: Collection[int]) -> None:
    """Put nothing in the place of all that is inherited open, but what is `kept`, and the streams.

    A number that an object of the parent has stays taken: the object may close it.
    """
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        end = int(name)
        with contextlib.suppress(OSError):
            if end > 2 and end not in kept:
                os.fstat(end)  # the list itself has gone
                os.dup2(null, end, inheritable=False)


def _forget_trackers() -> None:
    """Have workers of this process start a resource tracker: the line to the parent's was closed."""
    for name in ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker"):
        tracker: Foreign = getattr(sys.modules.get(name), "_resource_tracker", None)
        if tracker is not None:
            tracker._fd = tracker._pid = None


def _answered(task: Callable[[], JsonValue]) -> Json:
    try:
        return {"answer": task()}
    except InputError as error:
        return {"refused": str(error)}
    except SystemExit as error:
        return {"refused": guard.ended(error)}
    except KeyboardInterrupt:
        return {"refused": "target: its code raised KeyboardInterrupt"}
    except BaseException as error:
        return {"crashed": [*one_line(error).split(": ", 1), traceback.format_exc()]}


def _send(channel: int, message: Json) -> None:
    _write(channel, _dumps(message).encode() + b"\n")


def _write(channel: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(channel, left) :]
