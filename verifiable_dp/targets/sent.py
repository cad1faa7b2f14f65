"""Data as JSON: sent to the parent, which asks another process for runs on the same."""

from __future__ import annotations

import numpy as np

from verifiable_dp.core.validate import Foreign, Given, InputError, Json, JsonDict

LARGEST = 1 << 20  # entries of data that are sent along
_DEEPEST = 16
NUMBERS = "biuf"  # kinds of arrays that are: truth values, whole numbers, floats
_PLAIN = (bool, int, float, str, type(None))


def as_json(data: Given) -> JsonDict | None:
    """Data in a form from which `of_json` makes the same; None if they have none, or are too large."""
    try:
        found, size = _told(data, 0)
    except _UnknownError:
        return None
    return found if size <= LARGEST else None


class _UnknownError(Exception):
    """Data have no form."""


def _told(data: Given, depth: int) -> tuple[JsonDict, int]:
    """The form, and how many entries it has."""
    kind = type(data)
    if depth > _DEEPEST:
        raise _UnknownError
    if kind in _PLAIN:
        return {"value": data}, 1 + len(data) // 8 if kind is str else 1
    if kind is bytes:
        return {"bytes": data.hex()}, 1 + len(data) // 8
    if kind in (list, tuple):
        parts = [_told(item, depth + 1) for item in data]
        return {kind.__name__: [part for part, _ in parts]}, 1 + sum(size for _, size in parts)
    if kind is dict:
        rows = [(_told(key, depth + 1), _told(item, depth + 1)) for key, item in data.items()]
        entries = [[key, item] for (key, _), (item, _) in rows]
        return {"dict": entries}, 1 + sum(one + other for (_, one), (_, other) in rows)
    if kind is not np.ndarray and not isinstance(data, np.generic):
        raise _UnknownError
    if data.dtype.kind == "O" and data.size <= LARGEST:
        parts = [_told(item, depth + 1) for item in data.ravel().tolist()]
        found: JsonDict = {"objects": [part for part, _ in parts], "shape": list(data.shape)}
        return found, 1 + sum(size for _, size in parts)
    if data.dtype.kind not in f"{NUMBERS}U":
        raise _UnknownError
    if data.size > LARGEST:
        return {}, int(data.size)
    found = {"shape": list(data.shape), "of": data.dtype.str, "values": data.ravel().tolist()}
    return {**found, "scalar": kind is not np.ndarray}, 1 + int(data.size) * (1 + data.dtype.itemsize // 64)


def of_json(told: Json) -> Foreign:
    """The data of a form.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        return _made(told)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise InputError("target: its process described data in an unknown form") from None


def _made(told: Json) -> Foreign:
    if "value" in told:
        return told["value"]
    if "bytes" in told:
        return bytes.fromhex(told["bytes"])
    if "list" in told:
        return [_made(part) for part in told["list"]]
    if "tuple" in told:
        return tuple(_made(part) for part in told["tuple"])
    if "dict" in told:
        return {_made(key): _made(item) for key, item in told["dict"]}
    if "objects" in told:
        whole = np.empty(len(told["objects"]), object)
        whole[:] = [_made(part) for part in told["objects"]]
        return whole.reshape(told["shape"])
    kind = np.dtype(str(told["of"]))
    if kind.kind not in f"{NUMBERS}U":
        raise InputError("target: its process described data that are neither numbers nor text")
    made = np.array(told["values"], kind).reshape(told["shape"])
    return made[()] if told["scalar"] else made
