"""The right to draw noise on a session's data: one object of one process, and one file of one generation.

A session that lives in a file keeps it open and locked; each new state takes the place of the old one before
anybody sees what was drawn for it. What a copy, a fork or another process would do with the same data is
refused. An older copy of the file, such as a backup, looks like the file itself: only a counter outside it
tells them apart.

Theorem. Let a counter be changed by compare-and-set alone, to larger numbers. Each state has a stamp, above
those that it may follow, which no other state has (a digest of what it holds and of a random number). It is
shown once the counter went from one of those to its own. So of all states that follow one stamp at most one
is shown, whoever holds copies of the file, in whatever processes: two sessions on one counter cannot both go
on. A file is restored only if the counter is at its stamp, or at one that it follows; then nothing was shown
that it does not hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sqlite3
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import Protocol

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# What other systems lack is 0 there.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)


class BudgetError(InputError):
    """A release would cost more than the algorithm promises; we did not show it."""


class Counter(Protocol):
    """A number outside the session's file that only grows, and that a restored backup does not bring back."""

    def value(self) -> int:
        """The number; 0 at first."""

    def advance(self, expected: int, new: int) -> bool:
        """Make it `new` if it is `expected`, as one step; whether that was done, and lasts.

        Numbers have up to 128 bits. An error leaves open whether it was done: the session finds out later.
        """


_LONGEST = 1 << 10  # bytes of a counter's file


class FileCounter:
    """A counter in its own file. Keep it on a different disk from the sessions, and out of their backups.

    Parameters
    ----------
    path
        Path of the file; we create it at the first use. While the counter advances, we lock its folder.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = located("counter", path)

    def value(self) -> int:
        """See `Counter`.

        Raises
        ------
        InputError
            If the file cannot be read, is a link, can be written by others, or holds anything else.
        """
        if not os.path.lexists(self._path):
            return 0
        handle = _opened("counter", self._path)
        try:
            _check("counter", self._path, handle)
            found = os.read(handle, _LONGEST + 1)
        finally:
            os.close(handle)
        if len(found) > _LONGEST or not found.strip().isdigit():
            raise InputError(f"counter: {self._path!r} must contain a whole number")
        return int(found)

    def advance(self, expected: int, new: int) -> bool:
        """See `Counter`.

        Raises
        ------
        InputError
            If the file cannot be read or written, or another process locks its folder for long.
        """
        with _locked(self._path):
            if self.value() != expected:
                return False
            temporary = f"{self._path}.new"  # who holds the lock writes it; so does the next one after a kill
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK
            with open(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(f"{new}\n".encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path)
            files.settle(os.path.dirname(self._path))
            return True


class SqliteCounter:
    """A counter in a table of a SQLite database; one table can contain the counters of many sessions.

    Parameters
    ----------
    path
        Path of the database; we create it at the first use.
    name
        Name of the session.
    """

    def __init__(self, path: str | PathLike[str], name: str) -> None:
        self._path, self._name = located("counter", path), str(name)

    @contextlib.contextmanager
    def _table(self) -> Iterator[sqlite3.Connection]:
        with contextlib.suppress(FileNotFoundError):
            files.check_own("counter", self._path, os.stat(self._path))
        try:
            with contextlib.closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as base, base:
                base.execute("pragma synchronous = extra")
                base.execute("create table if not exists stamps (name text primary key, value text)")
                yield base
        except sqlite3.Error as error:
            raise InputError(f"counter: {self._path!r} cannot be used: {error}") from None

    def value(self) -> int:
        """See `Counter`.

        Raises
        ------
        InputError
            If the database cannot be used.
        """
        with self._table() as base:
            row = base.execute("select value from stamps where name = ?", (self._name,)).fetchone()
        return int(row[0]) if row else 0

    def advance(self, expected: int, new: int) -> bool:
        """See `Counter`.

        Raises
        ------
        InputError
            If the database cannot be used.
        """
        with self._table() as base:  # a row that is not there counts as 0
            base.execute("insert or ignore into stamps values (?, '0')", (self._name,))
            change = "update stamps set value = ? where name = ? and value = ?"
            return base.execute(change, (str(new), self._name, str(expected))).rowcount == 1


_PATIENCE = 30.0  # seconds, for a lock that others hold for an instant


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold the lock of the folder of a counter.

    Raises
    ------
    InputError
        If it cannot be locked, or what is done with it fails.
    """
    if fcntl is None:
        raise InputError(
            "counter: this system has no locks that are released when a process ends; use SqliteCounter"
        )
    handle, locked, until = -1, False, time.monotonic() + _PATIENCE
    try:
        handle = os.open(os.path.dirname(path), os.O_RDONLY)
        while not _lock(handle):
            if time.monotonic() > until:
                raise InputError(
                    f"counter: another process has locked the folder of {path!r}; end that process"
                )
            time.sleep(0.001)
        locked = True
        yield
    except OSError as error:
        raise InputError(f"counter: {path!r} cannot be used: {error.strerror}") from None
    finally:
        if locked:  # before any other call, which an interrupt may come after
            fcntl.flock(handle, fcntl.LOCK_UN)  # also of copies of the handle that a fork made
        if handle >= 0:
            os.close(handle)


def _lock(handle: int) -> bool:
    """Lock an open file or folder until it is closed; False if somebody else holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# ---------------------------------------------------------------- processes

_born: list[object] = [object()]  # changes in a child of a fork, whatever number its process has
_rights: weakref.WeakSet[Right] = weakref.WeakSet()


def _forked() -> None:
    _born[0] = object()
    for right in list(_rights):
        right.drop()  # else a child that outlives its parent would keep the file locked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


# ---------------------------------------------------------------- the right


@dataclass(frozen=True)
class Stamped:
    """Which state of a session a file holds.

    Attributes
    ----------
    generation
        How many were written, this one too.
    stamp
        Where a counter is once the state may be shown; 0 if there is no counter.
    follows
        Where the counter may have been when the state was written.
    """

    generation: int
    stamp: int = 0
    follows: tuple[int, ...] = ()


_STAMP_BYTES = 8


class Right:
    """The right to draw, held by one session.

    Parameters
    ----------
    counter
        Outside the file; None: an older copy of the file is not told from the newest.

    Attributes
    ----------
    generation
        How many states were committed.
    path
        Where the session lives; empty if it is in memory only.
    ended
        Whether the right was given up.
    """

    def __init__(self, counter: Counter | None = None) -> None:
        self.generation = 0
        self._counter, self._at, self._own = counter, 0, {0}  # where it was last, and what was done by this
        self._lock, self._process = threading.RLock(), (_born[0], os.getpid())
        self.path, self._file, self._next = "", -1, -1
        self.ended, self._busy = False, False
        _rights.add(self)

    def mine(self) -> None:
        """Refuse a process that was forked since.

        Raises
        ------
        InputError
            In that case.
        """
        if self._process != (_born[0], os.getpid()):
            raise InputError(
                "the session belongs to the process that created it, but this process is a fork of it, "
                "and both would draw on the same data; create or restore the session after the fork, in "
                "one process only"
            )

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let one thread at a time go on.

        Raises
        ------
        InputError
            In a process that was forked since, or once the session was closed.
        """
        self.mine()  # before the lock, which another thread of the parent may hold
        with self._lock:
            if self.ended:
                raise InputError("the session was closed; restore it from its file")
            yield

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """As `held`, but not within itself: a source of noise or a signal handler may call the session.

        Raises
        ------
        InputError
            As `held`, and within itself.
        """
        with self.held():
            if self._busy:
                raise InputError("the session is being updated or saved")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def take(self, path: str) -> bytes:
        """Open the file of a session, lock it, and return what it holds.

        Raises
        ------
        InputError
            If it cannot be read, is a link, is open in another session, or others could have changed it.
        """
        for _ in range(_TRIES):
            handle = _opened("session", path)
            try:
                for other in _left(path):  # of one that was killed when it had just made the file
                    if _same(other, handle, names=2):
                        _remove(other)
                _check("session", path, handle)
                _own(path, handle)
                if _same(path, handle):
                    self.path, self._file, handle = path, handle, -1
                    with open(self._file, "rb", closefd=False) as file:
                        return file.read(MOST_BYTES + 1)
            finally:
                if handle >= 0:  # replaced between opening and locking: the next one may be free
                    os.close(handle)
        raise InputError(f"session: {path!r} keeps being replaced; find out what replaces it")

    def took(self, mark: Stamped) -> None:
        """Check the mark of the file that was taken, and go on from it.

        Raises
        ------
        InputError
            If the counter is at another state, or at one and none is given.
        """
        self.generation = mark.generation
        if self._counter is None and mark.stamp:
            raise InputError(
                f"session: {self.path!r} was saved with a counter; give that counter (counter=...), "
                "otherwise we could not notice an older copy"
            )
        if self._counter is not None:
            self._at = self._counter.value()
            self._own = {mark.stamp, *mark.follows}
            if self._at not in self._own:
                raise InputError(
                    f"session: {self.path!r} does not match the counter: either the file is an older copy, "
                    "and more values have been released since, or the counter belongs to another session; "
                    "find the newest file, or begin a new session with its own budget"
                )
        for other in _left(self.path):  # of a process that was killed meanwhile
            _remove(other)

    def commit(self, seal: Callable[[Stamped], bytes], path: str = "") -> None:
        """Put the next state in the place of the file, so that it lasts, then tell the counter.

        Parameters
        ----------
        seal
            The content, of its mark.
        path
            Where a session that is in memory only comes to live.

        Raises
        ------
        InputError
            If it cannot be written, something else lies there, somebody has touched the file, or the counter
            is not where this session left it; the session is as it was then.
        """
        self.mine()
        place = self.path or path
        if self.path and not _same(place, self._file):
            raise InputError(f"session: {place!r} has been replaced or removed; find out by whom")
        if not self.path and os.path.lexists(place):
            raise InputError(_EXISTS.format(place))
        mark = self._mark(seal)
        data, temporary = seal(mark), ""
        folder, name = os.path.split(place)
        try:
            self._next, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=_NEW)
            while data:
                data = data[os.write(self._next, data) :]
            os.fsync(self._next)
            _own(place, self._next)
            (os.replace if self.path else _new)(temporary, place)
            self._adopt(place)
            files.settle(folder)
        except BaseException as error:
            _remove(temporary)
            self._adopt(place)
            if isinstance(error, OSError):
                raise InputError(f"session: {place!r} cannot be written: {error.strerror}") from None
            raise
        self._tell(mark)

    def _adopt(self, place: str) -> None:
        """Go on with the file that was put in its place last, also if an interrupt came right after that."""
        if self._next < 0:
            return
        if _same(place, self._next):
            old, self._file, self._next, self.path = self._file, self._next, -1, place
            self.generation += 1
        else:
            old, self._next = self._next, -1
        if old >= 0:
            os.close(old)

    def _mark(self, seal: Callable[[Stamped], bytes]) -> Stamped:
        """That of the next state."""
        if self._counter is None:
            return Stamped(self.generation + 1)
        self._look(self._counter)
        bare = Stamped(self.generation + 1, 0, tuple(sorted(self._own)))
        # Not only chance: of a machine that was resumed twice both may draw the same number. Not only the
        # content: who reads the counter could try what the rewards are.
        digest = hashlib.sha256(secrets.token_bytes(32) + seal(bare)).digest()[:_STAMP_BYTES]
        return replace(bare, stamp=max(self._own) + 1 + int.from_bytes(digest))

    def _look(self, counter: Counter) -> None:
        """See where the counter is: where this session left it, or was about to bring it."""
        found = counter.value()
        if found not in self._own:
            raise InputError(
                "session: the counter has changed since this session last used it, so another session used "
                "it too; each session needs its own counter and its own file"
            )
        self._at = found

    def _tell(self, mark: Stamped) -> None:
        """Bring the counter to a state, which may be shown then."""
        if self._counter is None:
            return
        self._own.add(mark.stamp)  # before it is known how that ends
        while self._counter.advance(self._at, mark.stamp) is not True:  # such as a coroutine nobody awaits
            before = self._at
            self._look(self._counter)  # an attempt that had failed may have come through late
            if self._at == mark.stamp:
                break
            if self._at == before:
                raise InputError("session: the counter did not advance, although it had the expected value")
        self._at, self._own = mark.stamp, {mark.stamp}

    def close(self) -> None:
        """Give the right up: the file can be taken by another session."""
        self.ended = True
        for handle in (self._file, self._next):
            if handle >= 0:
                fcntl.flock(handle, fcntl.LOCK_UN)  # also of copies of the handle that others have
        self.drop()

    def drop(self) -> None:
        """Close the files without unlocking them, which the parent of a fork still has open."""
        handles = self._file, self._next
        self._file = self._next = -1
        for handle in handles:
            if handle >= 0:
                os.close(handle)

    def __del__(self) -> None:
        if hasattr(self, "_next"):
            self.drop()


MOST_BYTES = 64 << 20
_TRIES = 100  # to take a file that others replace
_NEW = ".new"  # ends the name of what is to take the place of a file
_EXISTS = (
    "session: {!r} already exists; restore the session from it, or give another path: a new session has its "
    "own budget"
)


def _opened(what: str, path: str) -> int:
    try:
        return os.open(path, _READ)
    except OSError as error:
        if os.path.islink(path):
            raise InputError(f"{what}: {path!r} is a link; give the path of the file itself") from None
        raise InputError(f"{what}: {path!r} cannot be read: {error.strerror}") from None


def _own(path: str, handle: int) -> None:
    """Lock the file of a session until it is closed, which the end of the process does, too."""
    if fcntl is None:
        raise InputError(
            "session: this system has no locks that are released when a process ends; keep the "
            "session in memory"
        )
    try:
        free = _lock(handle)
    except OSError as error:
        raise InputError(
            f"session: the file system of {path!r} has no locks ({error.strerror}); keep the file on a "
            "local one"
        ) from None
    if not free:
        raise InputError(
            f"session: {path!r} is in use by another session, in this process or another one; only one "
            "session may draw on its data"
        )


def _check(what: str, path: str, handle: int) -> None:
    """Refuse what is not a file of one name that only its owner can write."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{what}: {path!r} is not a regular file")
    if found.st_nlink > 1:
        raise InputError(
            f"{what}: {path!r} has {found.st_nlink} names (hard links): the other names would keep "
            "an older state; remove them"
        )
    files.check_own(what, path, found)


def _same(path: str, handle: int, names: int = 1) -> bool:
    """Whether a path still names an open file, which has so many names."""
    try:
        named, held = os.stat(path, follow_symlinks=False), os.fstat(handle)
    except OSError:
        return False
    return os.path.samestat(named, held) and held.st_nlink == names


def _new(temporary: str, path: str) -> None:
    """Rename a file to where there is none, also if another process makes one at the same moment.

    Raises
    ------
    InputError
        If there is one.
    """
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise InputError(_EXISTS.format(path)) from None
    except OSError:  # not every file system has hard links
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _left(path: str) -> list[str]:
    """Files that are to take the place of one, or were."""
    folder, name = os.path.split(path)
    left = re.compile(rf"\.{re.escape(name)}\.[a-z0-9_]{{8}}{re.escape(_NEW)}")
    return [os.path.join(folder, other) for other in os.listdir(folder) if left.fullmatch(other)]


def _remove(temporary: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary)


def located(what: str, path: object) -> str:
    """The path of a file with the folders' links resolved; its own name may not be a link.

    Raises
    ------
    InputError
        If it is not a path.
    """
    name = str(files.located(what, path))
    folder, own = os.path.split(os.path.abspath(name))
    if not own or name == "." or "\0" in name:
        raise InputError(f"{what} must be the path of a file, got {path!r}")
    return os.path.join(os.path.realpath(folder), own)
