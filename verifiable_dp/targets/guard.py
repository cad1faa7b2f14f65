"""While a user's code runs: what it prints, where it goes and how it ends stay under control.

This keeps mistakes from spoiling an audit. It is not a sandbox: code that is audited runs with the rights of
whoever audits it.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TextIO

from verifiable_dp.core.asked import asked
from verifiable_dp.core.validate import Given, InputError, printable

_MOST = 1 << 11  # characters that a target may print in one audit
MARK = "target | "  # before each line that a target prints
_LINE = 64  # characters that a line break counts for: a terminal scrolls, and draws the spinner anew
_RELIED = ("json", "json.encoder", "json.decoder", "hashlib", "math")  # modules that records are made with
_CLASSES = (json.JSONEncoder, json.JSONDecoder)


def marked(line: str) -> str:
    """A line as one that a target prints, see `ShownOutput`."""
    return MARK + line.replace("#[", "#\\x5b")


class _Allowance:
    """How much more of what targets print is shown."""

    left = _MOST


class ShownOutput(io.TextIOBase):
    """A stream onto another one: lines are marked, control characters are escaped, and too much is cut.

    Parameters
    ----------
    stream
        Where it goes, stderr as a rule.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._last = stream, "\n"
        # A spinner writes past this stream and past rich's own proxy, which would print the spinner again.
        self.rich_proxied_file = getattr(stream, "rich_proxied_file", stream)
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """Of the stream beneath."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """As any stream; what is not shown counts as written."""
        whole = len(text)
        if _Allowance.left > 0:
            lines = text[: _Allowance.left].splitlines(keepends=True)
            shown = "".join(lines[: _Allowance.left // _LINE + 1])
            _Allowance.left -= len(shown) + _LINE * shown.count("\n")
            self._pass_on(printable(shown))
            if _Allowance.left <= 0:
                self.end()
                self._pass_on("(too much output; the rest is not shown)\n")
        return whole

    def _pass_on(self, text: str) -> None:
        """Mark each line as the target's: services take one that begins with ``::`` for a command.

        GitHub also looks for ``##[`` within a line.
        """
        whole = text.replace("#[", "#\\x5b")
        if self._last == "#" and whole.startswith("["):
            whole = "\\x5b" + whole[1:]
        for line in whole.splitlines(keepends=True):
            with contextlib.suppress(OSError, ValueError):  # a closed stderr must not fail the audit
                self._stream.write(line if self._last != "\n" else MARK + line)
            self._last = line[-1]

    def end(self) -> None:
        """End a line that was begun."""
        if self._last != "\n":
            self._pass_on("\n")

    def flush(self) -> None:
        """Flush the stream beneath."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


class Child:
    """Whether this process is the child of an audit, whose parent shows what it prints.

    And the folder in which its target was last, where that is not ours; whether the target is there now.
    """

    inside = False
    folder = ""
    away = False


class _Stderr:
    """The stream that is stderr when something is written: a spinner replaces it for a while."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)
        self.flush()

    def flush(self) -> None:
        sys.stderr.flush()


@contextlib.contextmanager
def relayed() -> Iterator[ShownOutput]:
    """A stream for what a child prints: shown on stderr, as much as one audit may print."""
    _Allowance.left = _MOST
    shown = ShownOutput(_Stderr())  # type: ignore[arg-type]
    try:
        yield shown
    finally:
        shown.end()


def ended(error: SystemExit) -> str:
    """That code of a target asked for the end of the program, in one line."""
    file = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    return f"target: your code ended the program in {file} (SystemExit: {error.code})"


class _Bytes(io.RawIOBase):
    """The bytes side of `Shown`."""

    def __init__(self, shown: ShownOutput) -> None:
        self._shown = shown

    def writable(self) -> bool:
        return True

    def write(self, content: Given) -> int:
        whole = bytes(content)
        self._shown.write(whole[: _Allowance.left + 1].decode("utf-8", "backslashreplace"))
        return len(whole)


_LEAVE = os._exit
_LOCK = threading.Lock()


class _Guards:
    """How many are on, in all threads."""

    on = 0


@contextlib.contextmanager
def _staying() -> Iterator[None]:
    """`os._exit` does not end the process before the last guard is off; those of threads may overlap."""
    with _LOCK:
        _Guards.on += 1
        os._exit = functools.partial(_no_exit, _LEAVE, os.getpid())  # type: ignore[assignment]
    try:
        yield
    finally:
        with _LOCK:
            _Guards.on -= 1
            if not _Guards.on:
                os._exit = _LEAVE


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """While a target runs: what it prints goes to stderr, escaped; it cannot end the process quietly.

    The current folder is put back. In a child, the target begins in the folder that it was in before, as it
    does in production.
    """
    with contextlib.ExitStack() as stack:
        if not (isinstance(sys.stderr, ShownOutput) or Child.inside):
            shown = ShownOutput(sys.stderr)
            stack.callback(shown.end)
            stack.enter_context(contextlib.redirect_stdout(shown))
            stack.enter_context(contextlib.redirect_stderr(shown))
        stack.enter_context(_staying())
        stack.enter_context(_its_folder())
        yield


@contextlib.contextmanager
def _its_folder() -> Iterator[None]:
    """As `guarded` has the current folder; within another such block, it is the target's already."""
    if Child.away:
        yield
        return
    folder, Child.away = _folder(), Child.inside
    try:
        if Child.folder:
            with contextlib.suppress(OSError):
                os.chdir(Child.folder)
        yield
    finally:
        there, Child.away = _folder(), False
        if folder and there != folder:
            os.chdir(folder)
        Child.folder = there if Child.inside and there != folder else ""


_IMPORTED: list[str] = []  # targets whose import is under way, the outermost first


@contextlib.contextmanager
def importing(place: str) -> Iterator[None]:
    """While a target is imported: as `watched` and `guarded`, and `check_outside` refuses audits."""
    _IMPORTED.append(place)
    try:
        with watched(), guarded(), asked():
            yield
    finally:
        _IMPORTED.pop()


def check_outside() -> None:
    """Refuse an audit that a target starts while it is imported: each of its processes would start another.

    Raises
    ------
    InputError
        If there is such an import.
    """
    if _IMPORTED:
        raise InputError(
            f"target: {_IMPORTED[-1]!r} must not start an audit while it is being imported as a target; "
            'put the audit under `if __name__ == "__main__":`'
        )


def _no_exit(leave: Callable[[int], object], process: int, status: int) -> None:
    """An end without clean-up would look like the end of the audit; children that were forked may have it."""
    if os.getpid() != process:
        leave(status)
    raise SystemExit(f"os._exit({status})")


def _folder() -> str:
    """The current folder; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Refuse targets that replace what records are made with, and put it back.

    Raises
    ------
    InputError
        If a function of `_RELIED` was replaced: its name.
    """
    _Allowance.left = _MOST
    # Loaded here, so that what is compared is there.
    holders: list[ModuleType | type] = [__import__(name, fromlist=["*"]) for name in _RELIED]
    before = [(holder, dict(vars(holder))) for holder in [*holders, *_CLASSES]]
    try:
        yield
    finally:
        replaced = [name for holder, values in before for name in _put_back(holder, values)]
    if replaced:
        raise InputError(
            f"target: its code replaced {', '.join(replaced[:3])}, on which the record depends; the code "
            "must not change other modules"
        )


def _put_back(holder: ModuleType | type, values: dict[str, object]) -> list[str]:
    """Names of what was replaced."""
    now = vars(holder)
    changed = [name for name, value in values.items() if now.get(name, _Allowance) is not value]
    for name in changed:
        setattr(holder, name, values[name])
    return [f"{holder.__name__}.{name}" for name in changed]
