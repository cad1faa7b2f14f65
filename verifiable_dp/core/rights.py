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
from pathlib import Path
from typing import Protocol

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# What other systems lack is 0 there.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_UNLOCK = fcntl.LOCK_UN if fcntl is not None else 0


class BudgetError(InputError):
    """A release would cost more than the algorithm promises; it was not shown."""


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
    """A counter in a file of its own: keep it on another disk than the sessions and out of their backups.

    Parameters
    ----------
    path
        Of the file; it is made at the first use, and a file for its lock beside it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = located(files.located("counter", path))

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
            files.check_own("counter", self._path, _regular("counter", self._path, handle))
            found = os.read(handle, _LONGEST + 1)
        finally:
            os.close(handle)
        if len(found) > _LONGEST or not found.strip().isdigit():
            raise InputError(f"counter: {self._path!r} must hold a whole number")
        return int(found)

    def advance(self, expected: int, new: int) -> bool:
        """See `Counter`.

        Raises
        ------
        InputError
            If the file cannot be read or written, or another process holds its lock for long.
        """
        with _locked(self._path):
            if self.value() != expected:
                return False
            temporary = f"{self._path}.new"  # who holds the lock writes it; so does the next one after a kill
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(f"{new}\n".encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path)
            files.settle(os.path.dirname(self._path))
            return True


class SqliteCounter:
    """A counter in a table of a SQLite database, which may hold those of many sessions.

    Parameters
    ----------
    path
        Of the database; it is made at the first use.
    name
        Of the session.
    """

    def __init__(self, path: str | PathLike[str], name: str) -> None:
        self._path, self._name = os.path.abspath(files.located("counter", path)), str(name)

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
            done = base.execute(change, (str(new), self._name, str(expected))).rowcount == 1
        return done


_PATIENCE = 30.0  # seconds, for a lock that others hold for an instant
_TRIES = 100  # to lock a file that others replace


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold the lock of a counter: a file beside it, which is made if there is none.

    Raises
    ------
    InputError
        If it cannot be made or locked, or what is done with it fails.
    """
    handle, beside = -1, f"{path}.lock"
    try:
        for _ in range(_TRIES):
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
            _wait(beside, handle)
            if _same(beside, handle):
                break
            os.close(handle)  # removed or replaced meanwhile: others lock the new one
            handle = -1
        if handle < 0:
            raise InputError(
                f"counter: {beside!r} has more names, or is replaced all the time; find out by whom"
            )
        yield
    except OSError as error:
        raise InputError(f"counter: {path!r} cannot be used: {error.strerror}") from None
    finally:
        if handle >= 0:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_UN)  # also of copies of the handle that a fork made
            os.close(handle)


def _wait(path: str, handle: int) -> None:
    if fcntl is None:
        raise InputError("counter: this system has no locks that end with a process; use SqliteCounter")
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise InputError(f"counter: another process holds the lock {path!r}; end it") from None
            time.sleep(0.001)


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
    """

    def __init__(self, counter: Counter | None = None) -> None:
        self.generation = 0
        self._counter, self._at, self._own = counter, 0, {0}  # where it was last, and what was done by this
        self._lock, self._process = threading.RLock(), (_born[0], os.getpid())
        self._path, self._file, self._next = "", -1, -1
        self._ended, self._busy = "", False
        _rights.add(self)

    @property
    def path(self) -> str:
        """Where the session lives; empty if it is in memory only."""
        return self._path

    @property
    def ended(self) -> bool:
        """Whether the right was given up."""
        return bool(self._ended)

    def _mine(self) -> None:
        if self._process != (_born[0], os.getpid()):
            raise InputError(
                "session: it belongs to the process that made it, and this one was forked from that: both "
                "would draw on the same data; make or restore the session after the fork, in one process"
            )

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let one thread at a time go on.

        Raises
        ------
        InputError
            In a process that was forked since, or once the session was closed.
        """
        self._mine()  # before the lock, which another thread of the parent may hold
        with self._lock:
            if self._ended:
                raise InputError(f"session: {self._ended}")
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
                raise InputError("session: it is in the middle of an update, or of writing its state")
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
                    if _one(other, os.fstat(handle)):
                        _remove(other)
                _check(path, handle)
                _lock(path, handle)
                if _same(path, handle):
                    self._path, self._file, handle = path, handle, -1
                    with open(self._file, "rb", closefd=False) as file:
                        return file.read(MOST_BYTES + 1)
            finally:
                if handle >= 0:  # replaced between opening and locking: the next one may be free
                    os.close(handle)
        raise InputError(f"session: {path!r} is replaced all the time; find out by whom")

    def took(self, mark: Stamped) -> bool:
        """Check the mark of the file that was taken, and go on from it.

        Returns
        -------
        bool
            Whether the session must be written before it goes on, so that no copy of the file does.

        Raises
        ------
        InputError
            If the counter is at another state, or at one and none is given.
        """
        self.generation = mark.generation
        if self._counter is None and mark.stamp:
            raise InputError(
                f"session: {self._path!r} was saved with a counter; give it (counter=...), else an older "
                "copy would not be noticed"
            )
        if self._counter is not None:
            self._at = self._counter.value()
            self._own = {mark.stamp, *mark.follows}
            if self._at not in self._own:
                raise InputError(
                    f"session: {self._path!r} is not the state that the counter is at: an older copy, whose "
                    "values were released since, or the counter is that of another session; find the newest "
                    "file, or begin a new session with a budget of its own"
                )
        for other in _left(self._path):  # of a process that was killed meanwhile
            _remove(other)
        return self._counter is not None

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
        self._mine()
        place = self._path or path
        self._adopt(place)
        if self._path and not _same(place, self._file):
            raise InputError(f"session: {place!r} was replaced or removed since; find out by whom")
        if not self._path and os.path.lexists(place):
            raise InputError(_EXISTS.format(place))
        mark = self._mark(seal)
        temporary, self._next = _written(place, seal(mark))
        try:
            (os.replace if self._path else _new)(temporary, place)
            self._adopt(place)
            files.settle(os.path.dirname(place))
        except BaseException as error:
            _remove(temporary)
            if isinstance(error, OSError):
                raise InputError(f"session: {place!r} cannot be written: {error.strerror}") from None
            raise
        self._tell(mark)

    def _adopt(self, place: str) -> None:
        """Go on with the file that was put in its place last, also if an interrupt came right after that."""
        if self._next < 0:
            return
        if _same(place, self._next):
            old, self._file, self._next, self._path = self._file, self._next, -1, place
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
                "session: the counter is not where this session left it: another session has used it; each "
                "session needs its own counter, and one file"
            )
        self._at = found

    def _tell(self, mark: Stamped) -> None:
        """Bring the counter to a state, which may be shown then."""
        if self._counter is None:
            return
        self._own.add(mark.stamp)  # before it is known how that ends
        while not self._counter.advance(self._at, mark.stamp):
            before = self._at
            self._look(self._counter)  # an attempt that had failed may have come through late
            if self._at == mark.stamp:
                break
            if self._at == before:
                raise InputError("session: the counter does not advance, though it is where it is expected")
        self._at, self._own = mark.stamp, {mark.stamp}

    def close(self, why: str = "it was closed; restore it from its file") -> None:
        """Give the right up: the file can be taken by another session."""
        self._ended = why
        self._free(_UNLOCK)

    def drop(self) -> None:
        """Close the files without unlocking them, which the parent of a fork still has open."""
        self._free(0)

    def _free(self, unlock: int) -> None:
        handles = self._file, self._next
        self._file = self._next = -1
        for handle in handles:
            if handle >= 0:
                if unlock:  # also of copies of the handle that others have
                    fcntl.flock(handle, unlock)
                os.close(handle)

    def __del__(self) -> None:
        if hasattr(self, "_next"):
            self.drop()


MOST_BYTES = 64 << 20
_NEW = ".new"  # ends the name of what is to take the place of a file
_EXISTS = (
    "session: {!r} exists; restore the session in it, or give another path: a new session has a budget of "
    "its own"
)
_TAKEN = (
    "session: {!r} is open in another session, of this process or another one; only one may draw on its data"
)


def _opened(what: str, path: str) -> int:
    try:
        return os.open(path, _READ)
    except OSError as error:
        if os.path.islink(path):
            raise InputError(f"{what}: {path!r} is a link; give the path of the file itself") from None
        raise InputError(f"{what}: {path!r} cannot be read: {error.strerror}") from None


def _lock(path: str, handle: int) -> None:
    """Lock a file until it is closed, which the end of the process does, too."""
    if fcntl is None:
        raise InputError(
            "session: this system has no locks that end with a process; keep the session in memory"
        )
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(_TAKEN.format(path)) from None
    except OSError as error:
        raise InputError(
            f"session: the file system of {path!r} has no locks ({error.strerror}); keep it on a local one"
        ) from None


def _regular(what: str, path: str, handle: int) -> os.stat_result:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{what}: {path!r} is not a regular file")
    if found.st_nlink > 1:
        raise InputError(
            f"{what}: {path!r} has {found.st_nlink} names (hard links): the others would keep an older "
            "state; remove them"
        )
    return found


def _check(path: str, handle: int) -> None:
    found = _regular("session", path, handle)
    files.check_own("session", path, found)
    if found.st_size > MOST_BYTES:
        raise InputError(
            f"session: a state file must have at most {MOST_BYTES} bytes, {path!r} has {found.st_size}"
        )


def _same(path: str, handle: int) -> bool:
    """Whether a path still names an open file."""
    try:
        held = os.fstat(handle)
    except OSError:
        return False
    return _one(path, held) and held.st_nlink == 1


def _one(path: str, held: os.stat_result) -> bool:
    """Whether a path names a file."""
    try:
        named = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def _written(path: str, data: bytes) -> tuple[str, int]:
    """Write a file for its owner only beside `path` and lock it; its name, and the open file."""
    folder, name = os.path.split(path)
    temporary, handle = "", -1
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=_NEW)
        written = 0
        while written < len(data):
            written += os.write(handle, data[written:])
        os.fsync(handle)
        _lock(path, handle)
        return temporary, handle
    except BaseException as error:
        if handle >= 0:
            os.close(handle)
            _remove(temporary)
        if isinstance(error, OSError):
            raise InputError(f"session: {path!r} cannot be written: {error.strerror}") from None
        raise


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


def regular(path: str) -> None:
    """Refuse a path where something else than a regular file of one name lies.

    Raises
    ------
    InputError
        In that case.
    """
    if os.path.lexists(path):
        handle = _opened("session", path)
        try:
            _regular("session", path, handle)
        finally:
            os.close(handle)


def located(path: object) -> str:
    """The path of a file with the folders' links resolved; its own name may not be a link.

    Raises
    ------
    InputError
        If it is not a path.
    """
    try:
        name = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"path must be the path of a file, got {type(path).__name__}") from None
    if not name or "\0" in name:
        raise InputError(f"path must be the path of a file, got {path!r}")
    folder, own = os.path.split(os.path.abspath(name))
    if not own:
        raise InputError(f"path must be the path of a file, got {path!r}")
    return str(Path(os.path.realpath(folder)) / own)
