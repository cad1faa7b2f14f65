"""The record of an audit: one JSON object that holds every number its verdicts follow from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np

from verifiable_dp._validate import InputError

SCHEMA_VERSION = "2.0.0"
SCHEMA_VERSIONS = ("1.0.0", "2.0.0")  # that can be read


def plain(value: Any) -> Any:
    """`value` as JSON knows it: numpy scalars become Python's, infinities become strings."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def canonical(record: Mapping[str, Any]) -> str:
    """The one JSON text of a record: sorted keys, no spaces, shortest floats, no NaN.

    Raises
    ------
    ValueError
        If it holds a number that is not finite.
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def text(record: Mapping[str, Any]) -> str:
    """A record as it is written to a file: indented JSON."""
    return json.dumps(record, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over everything but the digest itself."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(rest).encode()).hexdigest()


def as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a reader of their file gets them back: one round through JSON."""
    found: dict[str, Any] = json.loads(canonical(plain(values)))
    return found


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a record or of another data file, as they are read back, with the digest over them."""
    whole = as_read(values)
    return {**whole, "digest": digest(whole)}


def schema(major: int = 2) -> dict[str, Any]:
    """The JSON Schema of records of that major version.

    Raises
    ------
    InputError
        If there is no such version.
    """
    if major not in (1, 2):
        raise InputError(f"schema: major must be 1 or 2, got {major!r}")
    first = _schema_file(1)
    if major == 1:
        return first
    second = _schema_file(2)
    common = first["$defs"].keys() & second["$defs"].keys()
    parts = {name: (first["$defs"][name], second["$defs"][name]) for name in common}
    extended = {name: _extended(*both) for name, both in parts.items() if "properties" in both[0]}
    return {**_extended(first, second), "$defs": {**first["$defs"], **second["$defs"], **extended}}


def _extended(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with what version 2 adds to it; what it says anew goes before."""
    return {
        **first,
        **second,
        "properties": {**first["properties"], **second["properties"]},
        "required": [*first["required"], *second.get("required", [])],
    }


def _schema_file(major: int) -> dict[str, Any]:
    text = resources.files("verifiable_dp.reporting").joinpath(f"schema/record-{major}.json")
    loaded: dict[str, Any] = json.loads(text.read_text("utf-8"))
    return loaded
