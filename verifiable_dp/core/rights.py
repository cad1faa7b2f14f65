"""The right to draw noise on a session's data: one object of one process, and one file of one generation.

A session that lives in a file keeps it open and locked; each new state takes the place of the old one before
anybody sees what was drawn for it. What a copy, a fork or another process would do with the same data is
refused. An older copy of the file, such as a backup, looks like the file itself: only a counter outside it,
which never goes back, tells them apart.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
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
    """A number outside the session's file that only grows, and that a restored backup does not bring back.

    A counter may also have `hold()`, which returns an open and locked file, or raises an `InputError` while
    another session holds it. Without it two sessions that begin to use one counter in the same moment are not
    told apart.
    """

    def value(self) -> int:
        """The number; 0 at first."""

    def advance(self, to: int) -> None:
        """Make it at least `to`, and return once that lasts."""


class FileCounter:
    """A counter in a file of its own: keep it on another disk than the sessions and out of their backups.

    Parameters
    ----------
    path
        Of the file; it is made at the first use.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = files.located("counter", path)

    def hold(self) -> int:
        """See `Counter`."""
        return _held(f"{self._path}.lock")

    def value(self) -> int:
        """See `Counter`.

        Raises
        ------
        InputError
            If the file cannot be read or holds anything else.
        """
        if not os.path.lexists(self._path):
            return 0
        found = files.content("counter", self._path, 1 << 10).strip()
        if not found.isdigit():
            raise InputError(f"counter: {str(self._path)!r} must hold a whole number")
        return int(found)

    def advance(self, to: int) -> None:
        """See `Counter`."""
        if to > self.value():
            files.write_bytes(self._path, f"{to}\n".encode())


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
        self._path, self._name = files.located("counter", path), str(name)

    def hold(self) -> int:
        """See `Counter`."""
        digest = hashlib.sha256(self._name.encode()).hexdigest()[:16]
        return _held(f"{self._path}.{digest}.lock")

    @contextlib.contextmanager
    def _table(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self._path, timeout=30)) as base, base:
                base.execute("pragma synchronous = extra")
                base.execute("create table if not exists counters (name text primary key, value integer)")
                yield base
        except sqlite3.Error as error:
            raise InputError(f"counter: {str(self._path)!r} cannot be used: {error}") from None

    def value(self) -> int:
        """See `Counter`.

        Raises
        ------
        InputError
            If the database cannot be used.
        """
        with self._table() as base:
            row = base.execute("select value from counters where name = ?", (self._name,)).fetchone()
        return int(row[0]) if row else 0

    def advance(self, to: int) -> None:
        """See `Counter`."""
        with self._table() as base:
            base.execute(
                "insert into counters values (?, ?) on conflict (name) do update "
                "set value = max(value, excluded.value)",
                (self._name, to),
            )


def _held(path: str) -> int:
    """A locked file, which is made if there is none."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    except OSError as error:
        raise InputError(f"counter: {path!r} cannot be used: {error.strerror}") from None
    try:
        if not files.lock(handle, wait=False):
            raise InputError(f"counter: another session holds {path!r}; each session needs its own counter")
        return handle
    except BaseException:
        os.close(handle)
        raise


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
        self._counter, self._known = counter, 0
        self._lock, self._process = threading.RLock(), (_born[0], os.getpid())
        self._path, self._file, self._next, self._holds = "", -1, -1, -1
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
        while True:
            handle = _opened(path)
            try:
                _check(path, handle)
                _lock(path, handle)
                if _same(path, handle):
                    break
                os.close(handle)  # replaced between opening and locking: the next one may be free
            except BaseException:
                os.close(handle)
                raise
        self._path, self._file = path, handle
        with open(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)

    def took(self, generation: int) -> int:
        """Check the generation of the file that was taken, and go on from it.

        Returns
        -------
        int
            The least generation that no copy of the file has, as far as the counter can tell: the session
            must be written until it has it, so that those made before a crash are refused from then on.

        Raises
        ------
        InputError
            If the counter says that a later one was committed, or another session holds it.
        """
        self.generation = generation
        least = generation
        if self._counter is not None:
            self._hold()
            self._known = self._counter.value()
            if not self._known <= generation <= self._known + 1:
                raise InputError(
                    f"session: {self._path!r} is generation {generation}, and the counter is at "
                    f"{self._known}: an older copy, whose values were released since, or the counter of "
                    "another session; find the newest file, or begin a new session with a budget of its own"
                )
            least = self._known + 2
        folder, name = os.path.split(self._path)
        left = re.compile(rf"\.{re.escape(name)}\.[a-z0-9_]{{8}}{re.escape(_NEW)}")
        for other in os.listdir(folder):  # of a process that was killed meanwhile
            if left.fullmatch(other):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, other))
        return least

    def _hold(self) -> None:
        """Keep other sessions from the counter."""
        hold = getattr(self._counter, "hold", None)
        if hold is not None and self._holds < 0:
            self._holds = hold()

    def commit(self, seal: Callable[[int], bytes], path: str = "") -> None:
        """Put the next generation in the place of the file, so that it lasts, then tell the counter.

        Parameters
        ----------
        seal
            The content, of the number of a generation.
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
            raise InputError(
                f"session: {place!r} exists; restore the session in it, or give another path: a new session "
                "has a budget of its own"
            )
        self._reach()
        temporary, self._next = _written(place, seal(self.generation + 1))
        try:
            os.replace(temporary, place)
            self._adopt(place)
            files.settle(os.path.dirname(place))
        except BaseException as error:
            _remove(temporary)
            if isinstance(error, OSError):
                raise InputError(f"session: {place!r} cannot be written: {error.strerror}") from None
            raise
        self._tell()

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

    def _reach(self) -> None:
        """Bring the counter to the generation of the file, so that it is never two behind."""
        if self._counter is None:
            return
        self._hold()
        found = self._counter.value()
        if not self._known <= found <= self.generation:
            raise InputError(
                f"session: the counter is at {found} and was at {self._known}: another session has used it; "
                "each session needs its own counter, and one file"
            )
        if found < self.generation:
            self._tell()

    def _tell(self) -> None:
        if self._counter is not None:
            self._counter.advance(self.generation)
            self._known = self.generation

    def close(self, why: str = "it was closed; restore it from its file") -> None:
        """Give the right up: the file can be taken by another session."""
        self._ended = why
        self._free(_UNLOCK)

    def drop(self) -> None:
        """Close the files without unlocking them, which the parent of a fork still has open."""
        self._free(0)

    def _free(self, unlock: int) -> None:
        handles = self._file, self._next, self._holds
        self._file = self._next = self._holds = -1
        for handle in handles:
            if handle >= 0:
                if unlock:  # also of copies of the handle that others have
                    fcntl.flock(handle, unlock)
                os.close(handle)

    def __del__(self) -> None:
        if hasattr(self, "_holds"):
            self.drop()


MOST_BYTES = 64 << 20
_NEW = ".new"  # ends the name of what is to take the place of a file
_TAKEN = (
    "session: {!r} is open in another session, of this process or another one; only one may draw on its data"
)


def _opened(path: str) -> int:
    try:
        return os.open(path, _READ)
    except OSError as error:
        if os.path.islink(path):
            raise InputError(f"session: {path!r} is a link; give the path of the file itself") from None
        raise InputError(f"session: {path!r} cannot be read: {error.strerror}") from None


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


def _regular(path: str, handle: int) -> os.stat_result:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"session: {path!r} is not a regular file")
    if found.st_nlink > 1:
        raise InputError(
            f"session: {path!r} has {found.st_nlink} names (hard links): the others would keep an older "
            "state; remove them"
        )
    return found


def _check(path: str, handle: int) -> None:
    found = _regular(path, handle)
    files.check_own("session", path, found)
    if found.st_size > MOST_BYTES:
        raise InputError(
            f"session: a state file must have at most {MOST_BYTES} bytes, {path!r} has {found.st_size}"
        )


def _same(path: str, handle: int) -> bool:
    """Whether a path still names an open file."""
    try:
        named, held = os.stat(path, follow_symlinks=False), os.fstat(handle)
    except OSError:
        return False
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino) and held.st_nlink == 1


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
        handle = _opened(path)
        try:
            _regular(path, handle)
        finally:
            os.close(handle)


def located(path: object) -> str:
    """The path of a session's file with the folders' links resolved; its own name may not be a link.

    Raises
    ------
    InputError
        If it is not a path.
    """
    try:
        name = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"path must be the path of a session file, got {type(path).__name__}") from None
    if not name or "\0" in name:
        raise InputError(f"path must be the path of a session file, got {path!r}")
    folder, own = os.path.split(os.path.abspath(name))
    if not own:
        raise InputError(f"path must be the path of a session file, got {path!r}")
    return str(Path(os.path.realpath(folder)) / own)
