"""Files that are written whole or not at all, and locks on open files, where the system has them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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


@contextlib.contextmanager
def replacing(path: str, content: bytes, *, private: bool = False) -> Iterator[None]:
    """Write `content` beside `path`; once the block inside is through, put it in the place of `path`.

    If anything fails, `path` stays as it was and nothing is left beside it.

    Parameters
    ----------
    path
        Of the file.
    content
        The whole of it.
    private
        Whether only the owner may read the file; else it gets the rights of any new file.
    """
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
        yield
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
