"""State files: dataclasses of arrays as exact JSON under a digest, written whole or not at all."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import math

import numpy as np

from verifiable_dp.core import files
from verifiable_dp.core.rights import MOST_BYTES
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
VERSION = 4  # 3 had no stamps; 2 was used up when noise was drawn; 1 could hold sums that are not on the grid
LEAST_KEY = 16  # bytes
_MOST_VALUES = 1 << 22
_KEYED = "hmac-sha256:"
_KEYS = [
    *("format", "version", "generation", "stamp", "follows", "algorithm", "parameters", "noise", "rounds"),
    *("raw", "public", "private", "block", "meter"),
]
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
            f"session: {name} must have the type {type(like).__name__} to be saved, got "
            f"{type(thing).__name__}"
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
            f"session: {name} must consist of arrays in dataclasses to be saved, got {type(like).__name__}"
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
        raise InputError(
            f"session: {name} must have the same form as in a fresh session, got {type(stored).__name__}"
        )
    if isinstance(like, np.ndarray):
        array = _array(name, stored)
        _check_array(name, array, like)
        return array
    names = _fields(name, like)
    if list(stored) != names:
        raise InputError(
            f"session: {name} must contain {', '.join(names) or 'nothing'}, got {', '.join(stored)}"
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
            f"session: {name} must be an array with the same form as in a fresh session, {like.dtype} "
            f"{like.shape}, got {array.dtype} {array.shape}"
        )
    if np.isnan(array).any() and not np.isnan(like).any():
        raise InputError(f"session: {name} must not contain NaN")


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
    kind = type(value).__name__
    raise InputError(
        f"session: parameter {name} cannot be saved: {kind} is not plain data (numbers, text, lists)"
    )


# ---------------------------------------------------------------- files


def seal(record: Json, key: bytes | None = None) -> bytes:
    """Contents of the file of a record, under a digest.

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
    return data


def _text(record: Json) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode()


def read(path: str, data: bytes, key: bytes | None = None) -> JsonDict:
    """What a file holds.

    Parameters
    ----------
    path
        Of the file, for messages.
    data
        Its content.
    key
        The one that it was written with.

    Raises
    ------
    InputError
        If it is too large, not what was written (with this key), or of another version.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"session: {path!r} is larger than {MOST_BYTES >> 20} MiB")
    files.check_values(f"session: {path!r}", data, _MOST_VALUES)
    try:
        record = json.loads(data)
        keyed = str(record.pop("digest")).startswith(_KEYED)
        # Only the very bytes that were written are accepted: another spelling of them is damage too.
        expected = seal(record, key if keyed else None)
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise InputError(f"session: {path!r} is not a session file, or is damaged") from None
    if keyed != (key is not None):
        raise InputError(
            f"session: {path!r} was saved {'with' if keyed else 'without'} a key; "
            + ("give it: key=..." if keyed else "anyone who can write the file may have changed it")
        )
    if not hmac.compare_digest(data, expected):
        made = "with another key, or " if keyed else ""
        raise InputError(f"session: {path!r} is damaged: its digest was made {made}from other contents")
    if record.get("format") != FORMAT or record.get("version") != VERSION:  # their words: a format
        raise InputError(
            f"session: {path!r} must have format {FORMAT!r}, version {VERSION}, "
            f"got {record.get('format')!r}, {record.get('version')!r}"
        )
    if list(record) != _KEYS:
        raise InputError(f"session: {path!r} must contain {', '.join(_KEYS)}, got {', '.join(record)}")
    found: JsonDict = record
    return found
