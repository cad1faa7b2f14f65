"""What is said of an error of this program: one line that is not a verdict, and a traceback in a file."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from typing import NoReturn

from verifiable_dp import __version__
from verifiable_dp.core import paths

STATUS = 70  # EX_SOFTWARE of sysexits.h; Python's own is 1, which means refuted here
_TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp")


def crashed(error: BaseException) -> NoReturn:
    """Say on stderr what happened, as `in_words` does, and exit with `STATUS`.

    What is missing because it lies where code of targets may is no error of ours: exit with 2.
    """
    lost = error.name if isinstance(error, ModuleNotFoundError) else None
    if lost and (place := paths.missing(lost)):
        where = "which shares a folder tree with the current folder or is on PYTHONPATH"
        why = "That place may contain code of targets, which we never import where we judge audits"
        print(
            f"verifiable-dp: module {lost} is only in {place!r}, {where}. {why}; install the module with pip",
            file=sys.stderr,
        )
        sys.exit(2)
    print(f"verifiable-dp: {in_words(error)}", file=sys.stderr)
    sys.exit(STATUS)


def in_words(error: BaseException) -> str:
    """One line: the error and where its traceback is.

    The traceback goes into a new folder among temporary files, never to where evidence is written. Where
    there is no such place it follows the line.
    """
    try:
        from verifiable_dp.core.validate import one_line

        said = one_line(error)
    except Exception:  # the error may be that this cannot be imported
        said = type(error).__name__
    said = f"internal error, which says nothing about the claim: {said}"
    whole = "".join(traceback.format_exception(error))
    try:
        return f"{said}; the traceback is in {_kept(whole)}"
    except OSError:
        return f"{said}; no file can be written, so the traceback follows\n{whole.rstrip()}"


def _kept(whole: str) -> str:
    """Path of a new file with the traceback and what it was made with."""
    place = tempfile.gettempdir()
    # Where no temporary folder can be written it is the current one, which may hold evidence.
    if os.path.realpath(place) == os.path.realpath(os.curdir) and place not in _TEMPORARY:
        raise OSError
    path = os.path.join(tempfile.mkdtemp(prefix="verifiable-dp-", dir=place), "traceback.txt")
    made_with = f"verifiable-dp {__version__}, Python {platform.python_version()}"
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{made_with}\n{whole}")
    return path
