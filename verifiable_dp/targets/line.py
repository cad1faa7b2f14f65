"""The parent's end of the line to a target's process: what it says and is asked, and how it is ended.

A verdict is taken from one place: the parent's own pipe to the child. A child that ends, is replaced by
another program or closes the pipe has given none, whatever its exit status is and whatever it printed. The
parent also keeps the time: a call that does not return within `--timeout`, and an audit that takes many
times as long as its budget, are ended from here, whatever the code does to signals and exceptions.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import re
import selectors
import signal
import time
from collections.abc import Callable, Iterator

from verifiable_dp.core import watch
from verifiable_dp.core.limits import late
from verifiable_dp.core.validate import InputError, JsonDict, JsonValue
from verifiable_dp.targets import guard
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.opened import ABSENT, NOWHERE

Progress = Callable[[str], None]
Frame = tuple[JsonDict, bytes]
_TICK = 0.05  # seconds between looks at whether the child still runs, while it says nothing
_GRACE = 5.0  # seconds that the child has to end once it has answered or hung up
_SILENT = 60.0  # seconds without a byte of what was announced
_LARGEST = 128 << 20  # bytes of a message
_LARGEST_RUNS = 1 << 31  # bytes of what comes out of the runs of one part
_LONGEST = 2000  # characters of an error that is passed on
_MOST_FRAMES = 1 << 24  # of an answer


class StoppedError(Exception):
    """The child has stopped sending frames: its code raised something."""


class EndedError(Exception):
    """A child that serves gives no more answers: why, or how it ended. No audit goes on after it."""


class CrashedError(Exception):
    """An error of this program in a child, under the name of its class there; its traceback is a note."""


# ---------------------------------------------------------------- in the parent


class Clock:
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
            stuck = ", and the call could not be interrupted, so we killed its process"
            raise InputError(late("target: a call to its code", found[1], stuck))
        if time.monotonic() > self._end:
            _kill(pid)
            raise InputError(
                f"target: we stopped the audit without a verdict after {self._most:.0f} seconds, the limit "
                "for an audit of this size; if the code needs longer, give a larger --budget"
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


class _LastWordError(Exception):
    """The child has said how its task ended, and asks nothing more."""


class _GoneError(Exception):
    """The child says nothing more."""


class ChildLine:
    """What comes from a child, and what it is sent.

    Parameters
    ----------
    pid
        The child.
    ends
        What it sends, what it prints, and where it is answered.
    progress, clock, caged
        See `call`; one that serves has no progress: a line of it is no answer.

    Attributes
    ----------
    status
        How it ended, see `line.reaped`.
    caged
        As it was given.
    """

    def __init__(
        self, pid: int, ends: tuple[int, int, int], progress: Progress | None, clock: Clock, caged: Caged
    ) -> None:
        self._pid, (self._channel, self._output, self._reply) = pid, ends
        self._progress, self._clock, self.caged = progress, clock, caged
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
        """Its next message; what of the cage it has taken, and what its code has read, is noted.

        Raises
        ------
        _GoneError
            If there is none.
        """
        while True:
            message, caged = self.message(), self.caged
            if [*message] == ["opened"] and _are_digests(message["opened"]):
                _add(caged.opened, message["opened"])
                continue
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
            raise InputError("target: its process sent runs that we cannot read")
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
            if not isinstance(message, dict):
                return {}
            if self._progress is None or not isinstance(message.get("progress"), str):
                return message
            self._progress(guard.marked(message["progress"][:_LONGEST]))

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


def _are_digests(found: JsonValue) -> bool:
    """Whether these are texts, by texts, as digests are."""
    return isinstance(found, dict) and all(
        isinstance(one, str) and re.fullmatch("[0-9a-f]{64}", one) for one in found.values()
    )


def _add(known: dict[str, str], read: dict[str, str]) -> None:
    """Add what was read; of a file that was another one before, nobody knows which of the two ran."""
    for name, digest in read.items():
        changed = known.get(name, ABSENT) not in (ABSENT, digest)
        known[name] = NOWHERE if changed else digest


class Questions:
    """What a child that serves is asked, in the parent.

    Attributes
    ----------
    ready
        What it has said before its first question.
    ended
        What it has said at its end.
    caged
        Its cage, and what its code has read so far.
    """

    def __init__(self, line: ChildLine) -> None:
        self._line, self._left, self.caged = line, 0, line.caged
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
            raise EndedError("target: its process sent an answer that we cannot read")
        self._left = left
        return found


def until_last_word() -> contextlib.AbstractContextManager[None]:
    """Within this block a child may say how its task ended in place of any answer, which ends the block."""
    return contextlib.suppress(_LastWordError)


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


def reaped(pid: int) -> int | None:
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


def told(found: list[JsonDict], status: int | None) -> JsonValue:
    """The answer; what else a child may have told is raised."""
    if not found:
        raise InputError(f"target: {how_ended(status)}; there is no verdict")
    message, *more = found
    if more or len(message) != 1:
        raise InputError("target: its process sent more than one verdict, or none that we can read")
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


def how_ended(status: int | None) -> str:
    """How a child ended that gave no answer."""
    if status is None:
        return "its process closed the connection, as happens when another program replaces it"
    if status >= 0:
        return f"its process ended early (exit status {status})"
    name = signal.Signals(-status).name
    memory = ", as happens when memory runs out" if name == "SIGKILL" else ""
    return f"signal {name} ended its process{memory}"
