"""Locks on open files, where the system has them."""

from __future__ import annotations

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
