"""Files that a stranger may have written: never more of them than is expected, one line if it cannot be."""

from __future__ import annotations

import tomllib
from os import PathLike
from pathlib import Path
from typing import Any

from verifiable_dp._validate import InputError, one_line


def content(what: str, path: str | PathLike[str], largest: int) -> bytes:
    """The bytes of a file.

    Parameters
    ----------
    what
        Its name in messages.
    path
        Of the file.
    largest
        How many bytes it may have: a power of two, of at least a KiB.

    Raises
    ------
    InputError
        If it cannot be read or is larger.
    """
    place = Path(path)
    try:
        # Not by its size: a device or a pipe has none.
        with place.open("rb") as file:
            found = file.read(largest + 1)
    except OSError as error:
        raise InputError(f"{what}: {str(place)!r} cannot be read: {error.strerror}") from None
    if len(found) > largest:
        size = f"{largest >> 20} MiB" if largest >> 20 else f"{largest >> 10} KiB"
        raise InputError(f"{what}: {str(place)!r} is larger than {size}")
    return found


def toml(what: str, path: str | PathLike[str], largest: int) -> dict[str, Any]:
    """The values of a TOML file; arguments as `content`.

    Raises
    ------
    InputError
        As `content`, and if it is no TOML.
    """
    found = content(what, path, largest)
    try:
        return tomllib.loads(found.decode("utf-8-sig"))  # Windows editors begin with a mark
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{what}: {str(Path(path))!r} is no TOML: {one_line(error)[:200]}") from None
