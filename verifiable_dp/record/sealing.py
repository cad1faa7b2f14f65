"""The record of an audit: one JSON object that holds every number its verdicts follow from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from importlib import resources

import numpy as np

from verifiable_dp.core.validate import Json, JsonDict, JsonValue

SCHEMA_VERSION = "4.0.0"
SCHEMAS = ("record-4", "certificate-1", "compliance-1", "request-1")
# Pointers to what names the run: when, where, with which versions and from which commit it was made. Two runs
# of one audit agree in everything else; see `without_run`.
_FACTS = (
    "version",
    "command",
    "python",
    "packages",
    "platform",
    "cores",
    "started",
    "finished",
    "cpu_seconds",
    "cpu_seconds_by_mutant",  # of the mutation suite
    "code",
    "commit",
    "dirty",
    "target",
    "ci",
    "in_process",
    "ran_before",
    "cage",
    "counted",
    "resumed",
    "request",
)
RUN = (
    "/digest",
    *(f"/provenance/{key}" for key in _FACTS),
)
_WIDE = 200  # characters of a line of a file


def plain(value: JsonValue) -> JsonValue:
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


def canonical(record: Json) -> str:
    """The one JSON text of a record: sorted keys, no spaces, shortest floats, no NaN.

    Raises
    ------
    ValueError
        If it holds a number that is not finite.
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def text(values: JsonValue) -> str:
    """JSON as it is written to a file: keys sorted; an array of numbers, and what fits, on one line."""
    return _written(values, "") + "\n"


def _written(value: JsonValue, pad: str) -> str:
    line = json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False)
    if not isinstance(value, Mapping | list) or len(pad) + len(line) <= _WIDE or _numbers(value):
        return line
    if isinstance(value, Mapping):
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}: {_written(value[key], pad + ' ')}"
            for key in sorted(value)
        ]
    else:
        rows = [_written(item, pad + " ") for item in value]
    first, last = "{}" if isinstance(value, Mapping) else "[]"
    return f"{first}\n{pad} " + f",\n{pad} ".join(rows) + f"\n{pad}{last}"


def _numbers(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, int | float) for item in value)


def digest(record: Json) -> str:
    """SHA-256 over everything but the digest itself."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(rest).encode()).hexdigest()


def sealed(values: Json) -> JsonDict:
    """Values of a record or of another data file, as they are read back, with the digest over them."""
    whole: JsonDict = json.loads(canonical(plain(values)))
    return {**whole, "digest": digest(whole)}


def schema(name: str = SCHEMAS[0]) -> JsonDict:
    """The JSON Schema of records, or that of another of `SCHEMAS`."""
    file = resources.files("verifiable_dp.record").joinpath(f"schema/{name}.json")
    loaded: JsonDict = json.loads(file.read_text("utf-8"))
    return loaded


# ---------------------------------------------------------------- places, and what names a run


def pointer(*parts: str | int) -> str:
    """JSON pointer (RFC 6901) to a place in the record."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def without_run(record: Json, run_of: Json | None = None) -> JsonDict:
    """A record, or another data file, without what names its run (`RUN`).

    Parameters
    ----------
    record
        JSON values.
    run_of
        Whose run is put in its place; None leaves the fields out.
    """
    return dict(_without_run(record, run_of, ""))


def _without_run(value: JsonValue, run_of: JsonValue, place: str) -> JsonValue:
    if not isinstance(value, Mapping) or not any(here.startswith(place) for here in RUN):
        return value
    other = run_of if isinstance(run_of, Mapping) else {}
    found: JsonDict = {}
    for key in sorted({*value, *other}):
        here = place + pointer(key)
        if here in RUN:
            found |= {key: other[key]} if key in other else {}
        elif key in value:
            found[key] = _without_run(value[key], other.get(key), here)
    return found
