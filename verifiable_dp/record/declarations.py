"""Declarations: what a user states about a deployment and no audit can measure, from a small TOML file.

What stands here is copied into the record as a declaration, never as evidence. Nothing in it is required:
what is left out stays "not declared".
"""

from __future__ import annotations

import functools
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from verifiable_dp.core import files, validate
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.record.model import Claim
from verifiable_dp.record.sealing import schema

_LARGEST = 256 << 10  # bytes of the file
_LONGEST = 2000  # characters of a text
_MOST = 200  # items of a list
_NUMBERS = 20_000  # of one world

STARTER = Path(__file__).with_name("starter.toml").read_text("utf-8")


def starter(path: Path) -> Path:
    """Write a commented file to start from; as it stands it declares nothing.

    Raises
    ------
    InputError
        If there is something at `path` already, or it cannot be written.
    """
    if path.is_dir():
        path = path / "declarations.toml"
    if path.exists() or path.is_symlink():
        raise InputError(f"path: {str(path)!r} exists already; it is not overwritten")
    return files.write_text(path, STARTER)


def read(path: str | PathLike[str]) -> JsonDict:
    """Read a file of declarations.

    Returns
    -------
    dict
        JSON values; only what is declared.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, holds anything unknown (the first such key, with those accepted),
        or still says what the file of `starter` gives as an example.
    """
    found = checked(files.toml("declarations", path, _LARGEST))
    samples = dict(_leaves(tomllib.loads(re.sub(r"^#(?=\S)", "", STARTER, flags=re.MULTILINE))))
    listed = json.dumps(_form())  # an example that is one of the accepted values may be meant
    for place, text in _leaves(found):
        if " " in text and f'"{text}"' not in listed and samples.get(place) == text:
            raise InputError(
                f"declarations: {place} is still the example of the template, {text!r}; write what is true "
                "of your deployment, or remove the line"
            )
    return found


def _leaves(values: JsonValue, place: str = "") -> Iterator[tuple[str, str]]:
    """Texts with the path of each."""
    if isinstance(values, str):
        yield place, values
    items: Iterable[tuple[JsonValue, JsonValue]] = values.items() if isinstance(values, Mapping) else ()
    items = enumerate(values) if isinstance(values, list) else items
    for key, item in items:
        yield from _leaves(item, f"{place}.{key}" if place else str(key))


def checked(given: Json) -> JsonDict:
    """Declarations in their one form, each value checked.

    Raises
    ------
    InputError
        As `read`.
    """
    found: JsonDict = _checked("", given, _form())
    return found


@functools.cache
def _form() -> Json:
    """What may be declared: as the schema of records says it."""
    found: Json = schema()["$defs"]["declarations"]
    return found


def given(declared: str | PathLike[str] | Json | None) -> JsonDict | None:
    """Declarations of a path or of values; None if there are none.

    Raises
    ------
    InputError
        As `read`.
    """
    if declared is None:
        return None
    return checked(declared) if isinstance(declared, Mapping) else read(declared)


# ---------------------------------------------------------------- values


def _checked(name: str, value: JsonValue, form: Json) -> JsonValue:
    """A value in its one form."""
    kind, said = form.get("type", ""), f"declarations: {name}"
    if "enum" in form and value not in form["enum"]:
        raise InputError(f"{said} must be one of {', '.join(form['enum'])}, got {value!r}")
    if "anyOf" in form:
        return _text(said, value, form["anyOf"][0]) if isinstance(value, str) else _world(said, value)
    if kind == "object":
        return _table(name, value, form["properties"], form["required"])
    if kind == "array":
        if not isinstance(value, list):
            raise InputError(f"{said} must be a list, got {type(value).__name__}")
        if len(value) > _MOST:
            raise InputError(f"{said} must have at most {_MOST} items, got {len(value)}")
        return [_checked(f"{name}[{i}]", entry, form["items"]) for i, entry in enumerate(value)]
    if kind == "boolean" and not isinstance(value, bool):
        raise InputError(f"{said} must be true or false, got {value!r}")
    if kind == "integer":
        return validate.integer(said, value, least=form["minimum"], most=form["maximum"])
    return value if kind == "boolean" else _text(said, value, form)


def _table(name: str, value: JsonValue, keys: Mapping[str, Json], required: Sequence[str]) -> JsonDict:
    if not isinstance(value, Mapping):
        raise InputError(f"declarations: {name} must be a table with keys {', '.join(keys)}")
    dot = f"{name}." if name else ""
    for key in value:
        if key not in keys:
            raise InputError(f"declarations: {dot}{str(key)[:60]} is unknown; accepted: {', '.join(keys)}")
    found = {key: _checked(f"{dot}{key}", item, keys[key]) for key, item in value.items()}
    for key in required:
        if key not in found:
            raise InputError(f"declarations: {name} must have {key}")
    return found


def _text(said: str, value: JsonValue, form: Json) -> str:
    if not isinstance(value, str):
        raise InputError(f"{said} must be a text in quotes, got {type(value).__name__}")
    if len(value) > _LONGEST:
        raise InputError(f"{said} must have at most {_LONGEST} characters, got {len(value)}")
    text = value.strip()
    if not text and form.get("minLength"):
        raise InputError(f"{said} must not be empty; leave it out if there is nothing to say")
    return text


def _world(said: str, value: JsonValue) -> JsonValue:
    """A list of numbers, or a list of equally long lists of numbers."""
    accepted = f"{said} must be words, a list of rewards or one list of rewards for each round"
    if not isinstance(value, list) or not value:
        raise InputError(f"{accepted}, got {type(value).__name__}")
    rows = value if all(isinstance(row, list) for row in value) else [value]
    if len({len(row) for row in rows}) != 1 or sum(map(len, rows)) > _NUMBERS:
        raise InputError(f"{accepted}, of one length and {_NUMBERS} numbers at most")
    for number in (number for row in rows for number in row):
        right = isinstance(number, int | float) and not isinstance(number, bool)
        if not right or not math.isfinite(number):
            raise InputError(f"{accepted}, got {str(number)[:60]!r} among them")
    numbers = [[float(number) for number in row] for row in rows]
    return numbers if rows is value else numbers[0]


# ---------------------------------------------------------------- are two worlds neighbouring?


def neighbouring(
    world_0: JsonValue,
    world_1: JsonValue,
    claim: Claim,
    bounds: Sequence[float] | None = None,
) -> tuple[bool | None, str]:
    """Whether two declared worlds are neighbouring inputs of a claim, and why.

    Parameters
    ----------
    world_0, world_1
        Words, rewards (T,), or a table of rewards (T, K).
    claim
        Of the record.
    bounds
        Range of the rewards, if it is known.

    Returns
    -------
    bool or None
        None where it cannot be checked.
    str
        The reason.
    """
    if isinstance(world_0, str) or isinstance(world_1, str):
        return None, "given in words, so that nothing was checked"
    left, right = np.array(world_0, dtype=float), np.array(world_1, dtype=float)
    if left.shape != right.shape:
        return False, f"shapes {left.shape} and {right.shape}: neighbouring inputs have equal length"
    if bounds is not None and not all(bounds[0] <= w.min() and w.max() <= bounds[1] for w in (left, right)):
        return False, f"a reward lies outside [{bounds[0]:g}, {bounds[1]:g}], so that it is not an input"
    apart = left != right
    entries = int(apart.sum())
    if not entries:
        return False, "the two worlds are the same"
    rounds = np.flatnonzero(apart.reshape(len(left), -1).any(axis=1))
    where = f"{_few(rounds + 1)} differ{'s' if len(rounds) == 1 else ''}"
    return _within(claim, entries, len(rounds), where)


def _within(claim: Claim, entries: int, rounds: int, where: str) -> tuple[bool | None, str]:
    size = claim.size
    # A client of the shuffle model holds the rewards of all actions of its round.
    whole_rounds = claim.unit.of_rounds
    differ = rounds if whole_rounds else entries
    covers = f"the claim covers {size} {'round' if whole_rounds else 'reward'}{'s' if size > 1 else ''}"
    if differ > size:
        return False, f"{where}; {covers}"
    if claim.relation and claim.relation.kind == "user":
        return None, f"{where}; {covers}, if they are one user's, which the numbers do not say"
    return True, f"{where}; {covers}"


def _few(numbers: JsonValue) -> str:
    """Rounds in words, the first few of many."""
    shown = ", ".join(str(int(n)) for n in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"round{'s' if len(numbers) > 1 else ''} {shown}{more}"
