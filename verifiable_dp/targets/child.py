"""A user's code in a child process, so that nothing the code does can end an audit with a verdict.

The parent takes a verdict from one place: its own pipe to the child. A child that ends, is replaced by
another program or closes the pipe has given none, whatever its exit status is and whatever it printed. What
is written to the child's descriptors 1 and 2 goes to stderr as `guard.Shown` shows it.

The parent also keeps the time: a call that does not return within `--timeout`, and an audit that takes many
times as long as its budget, are ended from here, whatever the code does to signals and exceptions.

It is not a sandbox: the code has the rights of whoever audits it, and code that looks for the pipe finds it.
"""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import faulthandler
import functools
import io
import json
import math
import os
import pickle
import re
import selectors
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, NoReturn, cast

from verifiable_dp.core import engine, paths, plugins, watch
from verifiable_dp.core.limits import late
from verifiable_dp.core.steering import steering
from verifiable_dp.core.validate import Foreign, InputError, Json, JsonDict, JsonValue, Result, one_line
from verifiable_dp.evidence.tracing.foreign import settle
from verifiable_dp.targets import guard, keeping
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.measured import Measured, measured

Progress = Callable[[str], None]
Task = Callable[[Progress], JsonValue]  # what it gives is sent as JSON
Frame = tuple[JsonDict, bytes]
Ask = Callable[[Json, Iterable[Frame]], bytes]  # nothing: nothing more is asked
Serve = Callable[[Progress, Ask], JsonValue]  # answers what it is asked, until it is asked nothing more
POSSIBLE = hasattr(os, "waitid")  # whether a child can be watched on this system
_TICK = 0.05  # seconds between looks at whether the child still runs, while it says nothing
_GRACE = 5.0  # seconds that the child has to end once it has answered or hung up
_SILENT = 60.0  # seconds without a byte of what was announced
_LARGEST = 128 << 20  # bytes of a message
_LARGEST_RUNS = 1 << 31  # bytes of what comes out of the runs of one part
_LONGEST = 2000  # characters of an error that is passed on
_MOST_FRAMES = 1 << 24  # of an answer
_START = "from verifiable_dp.targets.child import main; main()"
_KEPT: list[object] = []  # streams of the parent: one that nobody has any more closes its descriptor
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


class StoppedError(Exception):
    """The child has stopped sending frames: its code raised something."""


class EndedError(Exception):
    """A child that serves gives no more answers: why, or how it ended. No audit goes on after it."""


class CrashedError(Exception):
    """An error of this program in a child, under the name of its class there; its traceback is a note."""


def unforkable() -> str:
    """Why this process cannot be forked safely; empty if it can be.

    A fork copies one thread only: what another one has locked stays locked for ever.
    """
    if not sys.platform.startswith("linux"):
        return "as this system forks no process that uses its libraries"
    if threading.active_count() > 1:
        return "as other threads are running"
    if _native_threads() > 0:
        return "as a library has started threads"
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
        Called with each line of progress.
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
    return _told(found, line.status)


def served(
    serve: Serve,
    conduct: Callable[[Questions], Result],
    progress: Progress,
    most: float = math.inf,
    caged: Caged | None = None,
) -> tuple[Result | None, JsonValue]:
    """What `conduct` makes of a child's answers, and what `serve` returns in it.

    Parameters
    ----------
    serve
        Called in the child with what takes progress and what asks this process for the next question: each
        answer is the message that asks for the next one.
    conduct
        Called here with what asks the child, once that asks for a question; if it never does, what it
        makes is None.
    progress, most, caged
        See `call`.

    Raises
    ------
    InputError, CrashedError
        As `call`, and what `conduct` raises.
    """
    made = None
    try:
        with _begun(serve, progress, most, caged or Caged(), serves=True) as line:
            questions = Questions(line)
            questions.ready = questions.answer()
            made = conduct(questions)
            questions.close()
    except EndedError as error:
        raise InputError(str(error) or f"target: {_without(line.status)}; nothing was concluded") from None
    except _LastWordError:
        pass
    return made, _told(questions.ended, line.status)


@contextlib.contextmanager
def _begun(
    task: Task | Serve,
    progress: Progress,
    most: float,
    caged: Caged,
    *,
    serves: bool = False,
    fresh: bool = False,
) -> Iterator[_Line]:
    """The line to a child that does a task; it has ended after the block, and the line knows its status."""
    start = _spawned if fresh or unforkable() else _forked
    ends = [*os.pipe(), *os.pipe(), *os.pipe()]
    channel, channel_in, output, output_in, replies, reply = ends
    try:
        for stream in (sys.stdout, sys.stderr):  # what they still hold would be written twice
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        with watch.shared() as calls, measured() as coverage, keeping.kept():
            pid = start(_Handed(task, channel_in, output_in, replies, coverage, caged, serves), calls.path)
            line = _Line(pid, (channel, output, reply), progress, _Clock(calls, most), caged)
            try:
                for end in (channel_in, output_in, replies):
                    ends.remove(end)
                    os.close(end)
                with line.open():
                    yield line
            finally:
                line.status = _end(pid)
    finally:
        for end in ends:
            os.close(end)


# ---------------------------------------------------------------- in the parent


class _Clock:
    """Ends an audit whose time is over.

    Parameters
    ----------
    calls
        What the processes of the audit note of their calls.
    most
        Seconds that the whole may take.
    """

    def __init__(self, calls: watch.WatchedCalls, most: float) -> None:
        self._calls, self._most, self._end = calls, most, time.monotonic() + most

    def look(self, pid: int) -> None:
        """Kill a child and all that it has started, if a call of theirs or the audit is overdue.

        Raises
        ------
        InputError
            If so: which of the two.
        """
        found = self._calls.overdue(_GRACE)
        if found is not None:
            _kill(pid)
            stuck = ", nor could it be ended from within, so its process was killed"
            raise InputError(late("target: a call of its code", found[1], stuck))
        if time.monotonic() > self._end:
            _kill(pid)
            raise InputError(
                f"target: the audit had not ended after {self._most:.0f} seconds, the most that one of this "
                "size may take, and was ended without a verdict; if the code is that slow, give a larger "
                "--budget"
            )


def _kill(pid: int) -> None:
    """Kill a process and what it has started; stopped first, so that it starts nothing more."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)

    def childless() -> bool:
        left = watch.descendants(pid)
        for one in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        return not left

    _within(_GRACE, childless)
    _signal(pid, signal.SIGKILL)


def _forked(given: _Handed, calls: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: `unforkable` has looked at them
        pid = os.fork()
    if pid == 0:
        _serve(given, calls)
    return pid


def _spawned(given: _Handed, calls: str) -> int:
    """A new Python, which is given the task on its stdin."""
    # The path first: by it the task is found.
    sent = b"".join(pickle.dumps(part) for part in (paths.of_targets(), replace(given, output=1)))
    steered = steering(os.environ)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START],
        env={name: value for name, value in os.environ.items() if name not in steered} | {watch.NAME: calls},
        stdin=subprocess.PIPE,
        stdout=given.output,
        stderr=given.output,
        pass_fds=[end for end in (given.channel, given.replies) if end >= 0],
    )
    process.returncode = 0  # `_end` reaps it
    with contextlib.suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as pipe:
        pipe.write(sent)
    return process.pid


class _LastWordError(Exception):
    """The child has said how its task ended, and asks nothing more."""


class _GoneError(Exception):
    """The child says nothing more."""


class _Line:
    """What comes from a child, and what it is sent.

    Parameters
    ----------
    pid
        The child.
    ends
        What it sends, what it prints, and where it is answered.
    progress, clock, caged
        See `call`.

    Attributes
    ----------
    status
        How it ended, see `_end`.
    """

    def __init__(
        self, pid: int, ends: tuple[int, int, int], progress: Progress, clock: _Clock, caged: Caged
    ) -> None:
        self._pid, (self._channel, self._output, self._reply) = pid, ends
        self._progress, self._clock, self._caged = progress, clock, caged
        self._received, self._looked, self._deadline = bytearray(), 0, math.inf
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self.status: int | None = None

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Within this block it can be read."""
        with selectors.DefaultSelector() as self._selector, guard.relayed() as self._shown:
            for end in (self._channel, self._output):
                self._selector.register(end, selectors.EVENT_READ)
            yield

    def answers(self) -> list[JsonDict]:
        """All that it sends until it ends: one message, if all is right."""
        found = list[JsonDict]()
        with contextlib.suppress(_GoneError):
            while True:
                found.append(self.next())
                self._deadline = min(self._deadline, time.monotonic() + _GRACE)
        return found

    def next(self) -> JsonDict:
        """Its next message; what of the cage it has taken is noted.

        Raises
        ------
        _GoneError
            If there is none.
        """
        while True:
            message, caged = self.message(), self._caged
            if [*message] != ["cage"] or caged.policy == "none" or caged.taken:
                return message
            caged.taken = [str(one) for one in message["cage"]]

    def frame(self) -> Frame:
        """The next message, with the bytes that follow it.

        Raises
        ------
        StoppedError
            If it has stopped sending them.
        InputError
            If it cannot be read.
        """
        header = self.message()
        if header == {"stopped": True}:
            raise StoppedError
        size = header.get("bytes", 0)
        if type(size) is not int or not 0 <= size <= _LARGEST_RUNS:
            raise InputError("target: its process sent runs that cannot be read")
        had, silent = len(self._received), time.monotonic()
        while had < size:  # what has been announced is there, and only has to be sent
            self._pump()
            if len(self._received) > had:
                had, silent = len(self._received), time.monotonic()
            elif time.monotonic() > silent + _SILENT:
                raise InputError("target: its process sent fewer bytes than it announced")
        content = bytes(self._received[:size])
        del self._received[:size]
        return header, content

    def message(self) -> JsonDict:
        """The next message that is not progress, which is passed on; empty if it cannot be read."""
        while True:
            end = self._received.find(b"\n", self._looked)
            if max(end, len(self._received) if end < 0 else 0) > _LARGEST:
                raise InputError(f"target: its process sent a message of more than {_LARGEST >> 20} MiB")
            if end < 0:
                self._looked = len(self._received)
                self._pump()
                continue
            line, self._looked = bytes(self._received[:end]), 0
            del self._received[: end + 1]
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict) and isinstance(message.get("progress"), str):
                # A line of a log must not begin with what a target wrote.
                self._progress(re.sub(r"^\W+", "", message["progress"])[:_LONGEST])
            else:
                return message if isinstance(message, dict) else {}

    def _pump(self) -> None:
        """Receive something, or look after the child.

        Raises
        ------
        _GoneError
            If nothing more comes.
        """
        ended = _ended(self._pid)
        ready = self._selector.select(0 if ended else _TICK)
        if time.monotonic() >= self._deadline or (ended and not ready):
            raise _GoneError
        for key, _ in ready:
            part = os.read(key.fd, 1 << 20)
            if key.fd == self._output:
                self._shown.write(self._decoder.decode(part))
            else:
                self._received += part
            if not part:
                self._selector.unregister(key.fd)
        if ended or self._deadline < math.inf or self._channel not in self._selector.get_map():
            self._deadline = min(self._deadline, time.monotonic() + _GRACE)
        else:
            self._clock.look(self._pid)

    def write(self, content: bytes) -> None:
        """Send something, and receive meanwhile what it sends."""
        left = memoryview(content)
        os.set_blocking(self._reply, False)
        while left:
            try:
                left = left[os.write(self._reply, left) :]
            except BlockingIOError:
                self._pump()
            except BrokenPipeError:
                return


class Questions:
    """What a child that serves is asked, in the parent.

    Attributes
    ----------
    ready
        What it has said before its first question.
    ended
        What it has said at its end.
    """

    def __init__(self, line: _Line) -> None:
        self._line, self._left = line, 0
        self.ready, self.ended = dict[str, JsonValue](), list[JsonDict]()

    def ask(self, question: bytes) -> JsonDict:
        """The answer to a question, a pickled object; frames of the last answer that nobody took are gone.

        Raises
        ------
        EndedError
            If it gives no more answers: then the block of `serving` says why.
        """
        for _ in self.frames():
            pass
        with _fatal():
            self._line.write(len(question).to_bytes(8, "little") + question)
        return self.answer()

    def frames(self) -> Iterator[Frame]:
        """The frames that belong to the last answer, as far as they were not taken; then its end.

        Raises
        ------
        StoppedError
            If its code raised something on the way: the end says what.
        """
        while self._left:
            self._left -= 1
            with _fatal():
                try:
                    frame = self._line.frame()
                except StoppedError:
                    self._left = 0
                    raise
            yield frame

    def close(self) -> None:
        """Ask nothing more."""
        with _fatal():
            self._line.write(bytes(8))
            self.ended = self._line.answers()

    def answer(self) -> JsonDict:
        """Its next answer; after frames that have stopped it says why."""
        with _fatal():
            message = self._line.next()
        if [*message] != ["asks"] or not isinstance(message["asks"], dict):
            self.ended = [message]
            raise _LastWordError
        found: JsonDict = message["asks"]
        left = found.get("frames", 0)
        if type(left) is not int or not 0 <= left <= _MOST_FRAMES:
            raise EndedError("target: its process sent an answer that cannot be read")
        self._left = left
        return found


@contextlib.contextmanager
def _fatal() -> Iterator[None]:
    """Within this block no error is one that an audit goes on after."""
    try:
        yield
    except InputError as error:
        raise EndedError(str(error)) from None
    except _GoneError:
        raise EndedError from None


def _ended(pid: int) -> bool:
    """Whether the child has ended; it is not reaped, so that its number stays its own."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody else reaped it
        return True


def _end(pid: int) -> int | None:
    """End the child with whatever it started, and reap it: its exit status, None if it had to be ended."""
    running = not _ended(pid)
    if running:
        _signal(pid, signal.SIGTERM)
        if not _within(_GRACE, lambda: _ended(pid)):
            _signal(pid, signal.SIGKILL)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None
    # What it leaves behind, such as the semaphores of joblib's workers, is removed by others of its group,
    # which do not heed SIGTERM.
    if _signal(pid, signal.SIGTERM) and not _within(_GRACE, lambda: not _signal(pid, 0)):
        _signal(pid, signal.SIGKILL)
    return None if running else status


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group of processes, whose leader may not have made it yet; whether there is one."""
    for send in (os.killpg, os.kill):
        try:
            send(group, number)
        except (ProcessLookupError, PermissionError):
            continue
        return True
    return False


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether something becomes true in so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_TICK)
    return True


def _told(found: list[JsonDict], status: int | None) -> JsonValue:
    """The answer; what else a child may have told is raised."""
    if not found:
        raise InputError(f"target: {_without(status)}; nothing was concluded")
    message, *more = found
    if more or len(message) != 1:
        raise InputError("target: its process sent more than one verdict, or none that can be read")
    ((kind, content),) = message.items()
    if kind == "answer":
        return content
    if kind == "refused":
        raise InputError(str(content)[:_LONGEST])
    if kind == "crashed" and isinstance(content, list) and len(content) == 3:
        name, said, trace = map(str, content)
        error = type(name if name.isidentifier() else "Exception", (CrashedError,), {})(said[:_LONGEST])
        error.add_note(trace)
        raise error
    raise InputError("target: its process sent something that is not a verdict")


def _without(status: int | None) -> str:
    """How a child ended that gave no answer."""
    if status is None:
        return (
            "its process closed the connection without a verdict, as when it is replaced by another program"
        )
    if status >= 0:
        return f"its process ended without a verdict (exit status {status})"
    name = signal.Signals(-status).name
    memory = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"signal {name} ended its process{memory}"


# ---------------------------------------------------------------- in the child


def main() -> None:
    """Serve the task on stdin; the start of a child that was not forked."""
    with open(0, "rb", closefd=False) as pipe:
        sys.path[:] = pickle.load(pipe)
        given = pickle.load(pipe)
    _serve(given, os.environ[watch.NAME])


def _serve(given: _Handed, calls: str) -> NoReturn:
    """Do the task, tell what it gave, and end this process, whatever happens."""
    status, channel = 1, given.channel
    try:
        os.environ[watch.NAME] = calls
        _settle(channel, given.output)
        meter = None if given.coverage is None else given.coverage.begin()
        with open(given.replies, "rb", closefd=False) as replies:
            os.set_inheritable(given.replies, False)
            more = (functools.partial(_ask, channel, replies),) if given.serves else ()
            answer = _answered(functools.partial(_caged, given, more), channel)
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
    _send(channel, {"asks": message})
    try:
        for header, content in frames:
            _send(channel, {**header, "bytes": len(content)})
            _write(channel, content)
    except BaseException:
        _send(channel, {"stopped": True})
        raise
    return replies.read(int.from_bytes(replies.read(8), "little"))


def _caged(given: _Handed, more: Sequence[Ask], progress: Progress) -> JsonValue:
    """What the task gives within the cage, which is told before any code of a target runs."""
    if taken := given.caged.enter():
        _send(given.channel, {"cage": taken})
    return given.task(progress, *more)


def _settle(channel: int, output: int) -> None:
    """A session, streams, signals and an environment of its own."""
    guard.Child.inside = True
    keeping.open_again()
    settle()
    with contextlib.suppress(OSError):
        os.setsid()  # nothing of the terminal is left to it, and it can be ended with what it starts
    null = os.open(os.devnull, os.O_RDONLY)
    for end, place in ((null, 0), (output, 1), (output, 2)):
        os.dup2(end, place)
    _hang_up(channel)
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
    for name in steering(os.environ):
        del os.environ[name]
    paths.restore()
    os.environ[plugins.ALLOWED] = "*"  # this process, and its workers, are where code of targets runs
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent


def _hang_up(channel: int) -> None:
    """Close what the parent writes to, such as its own parent's pipe, but files; and folders, for a cage."""
    from fcntl import F_GETFL, fcntl  # not on every system, but where a child can be watched

    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        end = int(name)
        with contextlib.suppress(OSError):
            writes, mode = fcntl(end, F_GETFL) & os.O_ACCMODE != os.O_RDONLY, os.fstat(end).st_mode
            apart = stat.S_ISDIR(mode) or (writes and not stat.S_ISREG(mode))
            if end > 2 and end != channel and apart:
                os.close(end)


def _forget_trackers() -> None:
    """Have workers of this process start a resource tracker: the line to the parent's was closed."""
    for name in ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker"):
        tracker: Foreign = getattr(sys.modules.get(name), "_resource_tracker", None)
        if tracker is not None:
            tracker._fd = tracker._pid = None


def _answered(task: Task, channel: int) -> Json:
    try:
        return {"answer": task(lambda line: _send(channel, {"progress": line}))}
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
