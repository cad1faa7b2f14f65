"""What this machine remembers of files that it wrote, where nothing that comes with code can be.

A key, or a note, that lies beside a file comes with it: from a repository, an archive or the cache of a job.
So the user's state folder holds them, by the path of the file.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError

_BASE = "XDG_STATE_HOME"  # variable of the environment that names the folder of all programs' states
_NAME = "verifiable-dp"
_MOST = 128  # bytes


def recall(path: Path) -> bytes:
    """What is remembered of a file; empty if nothing is."""
    with suppress(InputError, OSError), files.opened("state", _place_of(path)) as file:
        found = os.fstat(file.fileno())
        if os.name != "posix" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077):
            return file.read(_MOST)
    return b""


def remember(path: Path, content: bytes) -> None:
    """Remember this of a file.

    Raises
    ------
    InputError
        If it cannot be kept.
    """
    files.put(_place_of(path), content, what="state", private=True)


def forget(path: Path) -> None:
    """Remember nothing of a file any more."""
    with suppress(InputError, OSError):
        _place_of(path).unlink()


def _place_of(path: Path) -> Path:
    """Where the state of a file is, in a folder that is made if there is none.

    Raises
    ------
    InputError
        If others could have put it there.
    """
    real = os.path.realpath(path)
    try:
        given = os.environ.get(_BASE, "")
        folder = (Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state") / _NAME
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError) as error:  # the latter: no home
        raise InputError(f"state: no folder for the state can be created ({error}); {_REMEDY}") from None
    if os.name == "posix" and (not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid()):
        raise InputError(f"state: {str(folder)!r} is not a folder that belongs to you; {_REMEDY}")
    if os.name == "posix" and found.st_mode & 0o077:
        raise InputError(f"state: others can read {str(folder)!r}: chmod 700 {shlex.quote(str(folder))}")
    whole = folder.resolve()
    for root in filter(None, map(files.checkout, (Path(real).parent, Path.cwd()))):
        if whole.is_relative_to(root):
            raise InputError(f"state: {str(folder)!r} is in the repository {str(root)!r}; {_REMEDY}")
    return folder / hashlib.sha256(os.fsencode(real)).hexdigest()


_REMEDY = f"set {_BASE} to a folder that you own, outside your code"
