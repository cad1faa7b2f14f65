"""State files: dataclasses of arrays as exact JSON under a digest, written whole or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import json
import math
import os
import shlex
import stat
from collections.abc import Iterator

import numpy as np

from verifiable_dp.core import files
from verifiable_dp.core.validate import (
    BoolArray,
    FloatArray,
    Given,
    InputError,
    IntArray,
    Json,
    JsonDict,
    JsonValue,
)

FORMAT = "verifiable-dp session"
VERSION = 2  # 1 could hold sums that are not on the grid of `session.Session`
MOST_BYTES = 64 << 20
LEAST_KEY = 16  # bytes
_MOST_VALUES = 1 << 22
USED = ".used"  # ending of a file whose session has drawn noise since
_KEYED = "hmac-sha256:"
_KEYS = ["format", "version", "algorithm", "parameters", "noise", "rounds", "public", "private", "block"]
_KINDS = {"b": bool, "i": int, "u": int, "f": str}  # of numpy, and how JSON holds them


# ---------------------------------------------------------------- arrays


def pack(name: str, thing: Given, like: Given) -> JsonValue:
    """A dataclass of arrays as JSON values; floats in hexadecimal, so that none is rounded.

    Parameters
    ----------
    name
        For messages.
    thing
        An array, None or a dataclass of those.
    like
        The same thing of a fresh session.

    Raises
    ------
    InputError
        If it is something else, or differs from `like` in type, kind of number or shape.
    """
    if type(thing) is not type(like):
        raise InputError(
            f"session: {name} must stay a {type(like).__name__} to be saved, got {type(thing).__name__}"
        )
    if thing is None:
        return None
    if isinstance(thing, np.ndarray):
        _check_array(name, thing, like)
        return pack_array(thing)
    return {
        key: pack(f"{name}.{key}", getattr(thing, key), getattr(like, key)) for key in _fields(name, like)
    }


def _fields(name: str, like: object) -> list[str]:
    if not dataclasses.is_dataclass(like):
        raise InputError(
            f"session: {name} must be arrays in dataclasses to be saved, got {type(like).__name__}"
        )
    return [field.name for field in dataclasses.fields(like)]


def pack_array(array: FloatArray | IntArray | BoolArray) -> JsonDict:
    """dtype, shape and values of an array of numbers."""
    values: JsonValue = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [float(value).hex() for value in values]
    return {"dtype": array.dtype.str, "shape": list(array.shape), "values": values}


def unpack(name: str, stored: JsonValue, like: Given) -> Given:
    """Inverse of `pack`.

    Raises
    ------
    InputError
        If `stored` does not fit `like`.
    """
    if like is None and stored is None:
        return None
    if like is None or not isinstance(stored, dict):
        raise InputError(f"session: {name} must be like that of a fresh session, got {type(stored).__name__}")
    if isinstance(like, np.ndarray):
        array = _array(name, stored)
        _check_array(name, array, like)
        return array
    names = _fields(name, like)
    if list(stored) != names:
        raise InputError(
            f"session: {name} must hold {', '.join(names) or 'nothing'}, got {', '.join(stored)}"
        )
    return type(like)(**{key: unpack(f"{name}.{key}", stored[key], getattr(like, key)) for key in names})


def _array(name: str, stored: Json) -> FloatArray:
    try:
        dtype, shape, values = np.dtype(stored["dtype"]), stored["shape"], stored["values"]
        held = _KINDS[dtype.kind]
        if math.prod(shape) != len(values) or not all(type(value) is held for value in values):
            raise ValueError("values")
        numbers = [float.fromhex(value) for value in values] if held is str else values
        return np.array(numbers, dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"session: {name} is not an array with dtype, shape and values") from None


def _check_array(name: str, array: FloatArray, like: FloatArray) -> None:
    kind = array.dtype.kind in _KINDS and array.dtype.kind == like.dtype.kind
    # An axis without entries in a fresh session is one that grows.
    lengths = array.ndim == like.ndim and all(
        there in (0, here) for here, there in zip(array.shape, like.shape, strict=True)
    )
    if not (kind and lengths):
        raise InputError(
            f"session: {name} must be an array like that of a fresh session, {like.dtype} {like.shape}, "
            f"got {array.dtype} {array.shape}"
        )
    if np.isnan(array).any() and not np.isnan(like).any():
        raise InputError(f"session: {name} must not hold NaN")


def plain(name: str, value: Given) -> JsonValue:
    """A parameter as a JSON value; tuples become lists.

    Raises
    ------
    InputError
        If it is not a finite number, string, boolean, None or sequence of those.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(name, entry) for entry in value]
    if (
        value is None
        or isinstance(value, bool | int | str)
        or (isinstance(value, float) and np.isfinite(value))
    ):
        return value
    raise InputError(f"session: parameter {name} cannot be saved: {type(value).__name__} is not plain")


# ---------------------------------------------------------------- files


def place(path: Given) -> str:
    """`path` made absolute.

    Raises
    ------
    InputError
        If it is not a path.
    """
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise InputError(f"path must be the path of a session file, got {path!r}") from None
    if not name or "\0" in name:
        raise InputError(f"path must be the path of a session file, got {path!r}")
    return os.path.abspath(name)


def seal(record: Json, key: bytes | None = None) -> tuple[bytes, bytes]:
    """Contents of the file of a record, and their beginning, which holds the digest of the rest.

    With a key the digest is one that only who has the key can make (HMAC-SHA256).

    Raises
    ------
    InputError
        If the file would be larger than can be restored, or the key is too short.
    """
    body = _text(record)
    if key is None:
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
    else:
        if not isinstance(key, bytes) or len(key) < LEAST_KEY:
            raise InputError(f"key must be at least {LEAST_KEY} bytes, such as secrets.token_bytes(32)")
        digest = _KEYED + hmac.new(key, body, hashlib.sha256).hexdigest()
    data = _text({"digest": digest, **record}) + b"\n"
    if len(data) > MOST_BYTES:
        raise InputError(f"session: a state file must have at most {MOST_BYTES} bytes, got {len(data)}")
    return data, _text({"digest": digest})[:-1]


def _text(record: Json) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode()


def read(path: str, key: bytes | None = None) -> tuple[JsonDict, bytes]:
    """Record of a file, and the beginning of the file.

    Raises
    ------
    InputError
        If it cannot be read, is not a regular file, can be written by others, is too large, not what was
        written (with this key), or of another version.
    """
    data = _bytes(path)
    files.check_values(f"session: {path!r}", data, _MOST_VALUES)
    try:
        record = json.loads(data)
        keyed = str(record.pop("digest")).startswith(_KEYED)
        # Only the very bytes that were written are accepted: another spelling of them is damage too.
        expected, head = seal(record, key if keyed else None)
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise InputError(f"session: {path!r} is not a session file, or damaged") from None
    if keyed != (key is not None):
        raise InputError(
            f"session: {path!r} was saved {'with' if keyed else 'without'} a key; "
            + ("give it: key=..." if keyed else "anyone who can write the file may have changed it")
        )
    if not hmac.compare_digest(data, expected):
        made = "with another key, or " if keyed else ""
        raise InputError(f"session: {path!r} is damaged: its digest was made {made}of other contents")
    if record.get("format") != FORMAT or record.get("version") != VERSION:  # their words: a format
        raise InputError(
            f"session: {path!r} must have format {FORMAT!r}, version {VERSION}, "
            f"got {record.get('format')!r}, {record.get('version')!r}"
        )
    if list(record) != _KEYS:
        raise InputError(f"session: {path!r} must hold {', '.join(_KEYS)}, got {', '.join(record)}")
    return record, head


def _bytes(path: str) -> bytes:
    try:
        with files.opened("session", path) as file:
            found = os.fstat(file.fileno())
            _check_own(path, found)
            if found.st_size > MOST_BYTES:
                raise InputError(
                    f"session: a state file must have at most {MOST_BYTES} bytes, "
                    f"{path!r} has {found.st_size}"
                )
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"session: {path!r} cannot be read: {error.strerror}") from None


def _check_own(path: str, found: os.stat_result) -> None:
    """Refuse a file that others can write, or put another one in the place of: it chooses the noise.

    Raises
    ------
    InputError
        In that case.
    """
    if os.name != "posix":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise InputError(f"session: {path!r} belongs to another user, who can change it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"session: others can write {path!r}; if nobody has: chmod 600 {shlex.quote(path)}")
    folder = os.stat(os.path.dirname(os.path.realpath(path)))
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        raise InputError(f"session: everyone can replace files in the folder of {path!r}")


@contextlib.contextmanager
def replacing(path: str, data: bytes) -> Iterator[None]:
    """As `files.replacing`, for the owner only; a used file beside it is removed.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if os.path.lexists(path) and not os.path.isfile(path):
        raise InputError(f"session: {path!r} is not a regular file")
    with files.replacing(path, data, what="session", private=True):
        yield
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + USED)
    files.settle(os.path.dirname(path))


def retire(path: str, head: bytes) -> None:
    """Mark the file as used, if it is still there and begins with `head`.

    Raises
    ------
    InputError
        If it is gone or another one, or cannot be marked.
    """
    try:
        check_held(path, head)
        os.replace(path, path + USED)
        files.settle(os.path.dirname(path))
    except OSError as error:
        raise InputError(f"session: {path!r} cannot be marked as used: {error.strerror}") from None


def check_held(path: str, head: bytes) -> None:
    """Refuse to go on if the file at `path` is gone or does not begin with `head`.

    Raises
    ------
    InputError
        In that case.
    """
    found = b""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        found = file.read(len(head))
    if found != head:
        raise InputError(
            f"session: {path!r} was used, replaced or removed since: another session may have gone on from "
            "it, and noise drawn here could release its values once more"
        )


def find(path: str, again: bool) -> str:
    """Where to restore from: `path`, or with `again` what became of it.

    Raises
    ------
    InputError
        If it was used, unless `again`.
    """
    if again:
        return path if os.path.lexists(path) else path + USED
    used = path if path.endswith(USED) else path + USED
    if path == used or (not os.path.lexists(path) and os.path.lexists(used)):
        raise InputError(
            f"session: {used!r} was used: noise was drawn after it was saved, and going on from it releases "
            "values once more; pass again=True to override"
        )
    return path
