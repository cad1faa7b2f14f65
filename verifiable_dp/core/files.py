"""Files: read as much as is expected and no more, written whole or not at all, and locked while open."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
import tempfile
import tomllib
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from verifiable_dp.core.validate import InputError, JsonDict, one_line

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_VALUES = 1 << 19  # of a JSON file
_MOST_DOTS = 256
_MOST_LINKS = 64  # on the way to a file


def located(what: str, path: object) -> Path:
    """The path of a file, as a path.

    Raises
    ------
    InputError
        If it is none.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"{what} must be the path of a file, got {type(path).__name__}")
    return Path(path)


def content(what: str, path: str | PathLike[str], largest: int, *, private: bytes = b"") -> bytes:
    """The bytes of a regular file that a stranger may have written.

    Parameters
    ----------
    what
        Its name in messages.
    path
        Of the file.
    largest
        How many bytes it may have: a power of two, of at least a KiB.
    private
        Words of a content that nobody but the owner of the file may be able to read; empty if all may.

    Raises
    ------
    InputError
        If it cannot be read, is not a regular file, is larger, or others can read what is private.
    """
    place = located(what, path)
    try:
        with opened(what, place) as file:
            found, mode = file.read(largest + 1), os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise InputError(f"{what}: {str(place)!r} cannot be read: {error.strerror}") from None
    if private and private in found and mode & 0o077 and os.name == "posix":
        raise InputError(
            f"{what}: others can read {str(place)!r}; make it readable by its owner only: "
            f"chmod 600 {shlex.quote(str(place))}"
        )
    if len(found) > largest:
        size = f"{largest >> 20} MiB" if largest >> 20 else f"{largest >> 10} KiB"
        raise InputError(f"{what}: {str(place)!r} is larger than {size}")
    return found


def opened(what: str, path: str | PathLike[str]) -> BinaryIO:
    """A regular file, opened to be read; a pipe or a device would not end, or give something else each time.

    Raises
    ------
    OSError
        If it cannot be opened.
    InputError
        If it is something else.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return open(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise InputError(f"{what}: {str(path)!r} is not a regular file")


def check_values(what: str, content: bytes, most: int = MOST_VALUES) -> None:
    """Refuse JSON of more than `most` values, before it is parsed: each takes a hundred times its text.

    Values are counted by the commas and brackets before them; those within strings count, too.

    Raises
    ------
    InputError
        In that case.
    """
    found = content.count(b",") + content.count(b"[") + content.count(b"{") + 1
    if found > most:
        raise InputError(f"{what}: it contains {found} values, but at most {most} are accepted")


def check_own(what: str, path: str, found: os.stat_result) -> None:
    """Refuse a file that others can write, or put another one in the place of: it chooses the noise.

    Parameters
    ----------
    what
        Its name in messages.
    path, found
        Of the file, and what the system says of it.

    Raises
    ------
    InputError
        In that case.
    """
    if os.name != "posix":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise InputError(f"{what}: {path!r} belongs to another user, who can change it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            f"{what}: others can write to {path!r}; if nobody has changed it, run chmod 600 "
            f"{shlex.quote(path)}"
        )
    for folder in Path(os.path.realpath(path)).parents:  # whoever writes one can put another in its place
        mode = os.stat(folder).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise InputError(
                f"{what}: {path!r} can be replaced: everyone can write to the folder {str(folder)!r}"
            )


def toml(what: str, path: str | PathLike[str], largest: int) -> JsonDict:
    """The values of a TOML file; arguments as `content`.

    Raises
    ------
    InputError
        As `content`, and if it is not TOML.
    """
    found = content(what, path, largest)
    # The time that a dotted key takes grows with the square of its parts.
    if any(line.count(b".") > _MOST_DOTS for line in found.split(b"\n")):
        raise InputError(f"{what}: {str(Path(path))!r} has more than {_MOST_DOTS} dots in one line")
    try:
        return tomllib.loads(found.decode("utf-8-sig"))  # Windows editors begin with a mark
    # A ValueError is also what a number of too many digits is refused with.
    except (ValueError, RecursionError) as error:
        raise InputError(f"{what}: {str(Path(path))!r} is not TOML: {one_line(error)[:200]}") from None


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written.

    Raises
    ------
    InputError
        If its folder does not exist or is read-only, or if it is a folder itself, a device or a pipe.
    """
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"path: {str(path)!r} is a folder; give the path of a file")
    if path.exists() and not path.is_file():  # a file would take its place
        raise InputError(f"path: {str(path)!r} is a device or a pipe, not a file")
    if not folder.is_dir():
        raise InputError(f"path: {str(path)!r} cannot be written: there is no folder {str(folder)!r}")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".write-test-"):
            pass
    except OSError as error:
        raise InputError(f"path: {str(path)!r} cannot be written: {error.strerror}") from None


def put(path: str | Path, data: bytes, *, what: str = "path", private: bool = False) -> None:
    """Write `data` beside `path` and put it in its place, whole or not at all.

    Parameters
    ----------
    path
        Of the file.
    data
        Its content.
    what
        Its name in messages.
    private
        Whether only the owner may read the file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    folder, name = os.path.split(os.path.abspath(path))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        settle(folder)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"{what}: {str(path)!r} cannot be written: {error.strerror}") from None
        raise


def settle(folder: str) -> None:
    """Make a renaming in a folder last through a loss of power."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path: Path, text: str) -> Path:
    """Write a file whole or not at all, and return its path.

    Raises
    ------
    InputError
        If it cannot be written; nothing is left behind.
    """
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    """As `write_text`."""
    check_writable(path)
    put(path, content)
    return path


def remove(name: str, *answers: Path) -> None:
    """Remove what is about to be written anew, so that a failure leaves no older answer.

    Raises
    ------
    InputError
        If that cannot be done; `name` is that of the argument.
    """
    for path in answers:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{name}: {str(path)!r} cannot be removed: {error.strerror}") from None


def check_own_folder(name: str, folder: Path) -> None:
    """Refuse a folder that is a link, or is behind one below the current folder, as a checkout may hold them.

    Raises
    ------
    InputError
        In that case.
    """
    whole, here = folder.absolute(), Path.cwd()
    for place in (whole, *(above for above in whole.parents if here in above.parents)):
        if place.is_symlink():
            raise InputError(f"{name}: {str(place)!r} is a link; give the folder that it points to")


def make_folder(name: str, folder: Path) -> None:
    """Make a folder, and those above it, where there is none; `name` is that of the argument.

    Raises
    ------
    InputError
        If it cannot be made, or is a link: what is written would go where somebody else has decided.
    """
    check_own_folder(name, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{name}: {str(folder)!r} cannot be created: {error.strerror}") from None


def make_ignored_folder(name: str, folder: Path) -> None:
    """As `make_folder`; git ignores what lies in one that we make: else a repository counts as changed."""
    there = folder.exists()
    make_folder(name, folder)
    if not there:
        write_text(folder / ".gitignore", "*\n")


def lock(handle: int, *, wait: bool = True) -> bool:
    """Lock an open file or folder until it is closed.

    Parameters
    ----------
    handle
        File descriptor.
    wait
        Whether to wait for whoever holds the lock.

    Returns
    -------
    bool
        False only if somebody else holds it. A system or a file system without locks gives True.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # not every file system knows locks
        return True
    return True


def checkout(folder: Path) -> Path | None:
    """The repository that a folder is in: the nearest one at or above it that holds ``.git``."""
    real = folder.resolve()
    return next((one for one in (real, *real.parents) if os.path.lexists(one / ".git")), None)


def way(place: str) -> tuple[list[str], str]:
    """The links on the way to a place, as the system goes it, and the place at its end, which has none.

    Raises
    ------
    OSError
        If it goes round in a circle.
    """
    links, at = list[str](), ""
    left = [os.path.join(os.getcwd(), place)]
    while left:
        part = left.pop()
        if os.path.isabs(part) or os.sep in part:
            drive, rest = os.path.splitdrive(part)
            at = drive + os.sep if os.path.isabs(part) else at
            left += rest.split(os.sep)[::-1]
            continue
        if part in ("", os.curdir):
            continue
        step = os.path.dirname(at) if part == os.pardir else os.path.join(at, part)
        try:
            left.append(os.readlink(step))
        except OSError:  # not a link
            at = step
            continue
        links.append(step)
        if len(links) > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), place)
    return links, at
