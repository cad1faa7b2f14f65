"""Declarations: what a user states about a deployment and no audit can measure, from a small TOML file.

What stands here is copied into the record as a declaration, never as evidence. Nothing in it is required:
what is left out stays "not declared". What is asked, and what an answer is worth, is said in `questions`.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from verifiable_dp.core import files, validate
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.record import questions

_LARGEST = 256 << 10  # bytes of the file
_LONGEST = 2000  # characters of a text
_MOST = 200  # items of a list
_NUMBERS = 20_000  # of one world
_WIDE = 108  # characters of a line of the template
_PLACE = re.compile(r"<[^<>]*>")  # of the template, to be filled in

_HEAD = """\
# Declarations for verifiable-dp: what no audit can measure, in the words of the person who is responsible
# for the deployment. They go into the record as declarations, never as evidence; an answer that contradicts
# the promise or makes it void is shown at the top of the report.
#
#     verifiable-dp audit TARGET --declarations declarations.toml --json record.json --html record.html
#
# Everything is optional; anything that you leave out is reported as not declared. Lines that begin with "#"
# and no space are examples: remove the "#", and replace <...> with what is true of your deployment.
"""


def _template() -> Iterator[str]:
    yield _HEAD
    for table, asked in questions.tables().items():
        if table:
            yield f"#[{table}]"
        for one in asked:
            values = f" One of {', '.join(one.form['enum'])}." if "enum" in one.form else ""
            yield from (f"# {line}" for line in textwrap.wrap(f"{one.ask}{values} {one.hint}", _WIDE))
            yield f"#{one.id.rpartition('.')[2]} = {one.example}"
        yield ""


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
        raise InputError(f"path: {str(path)!r} already exists; we do not overwrite it")
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
        If it cannot be read or is not TOML; else with everything that is wrong in it: what is unknown, not
        of the form asked for, or still a place of the template to be filled in.
    """
    found = files.toml("declarations", path, _LARGEST)
    places = [
        f"{place} has not been filled in: {text!r}; write what is true, or remove the line"
        for place, text in _leaves(found)
        if _PLACE.fullmatch(text.strip())
    ]
    return _whole(found, places)


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
        See `read`.
    """
    return _whole(given, [])


def _whole(given: Json, wrong: list[str]) -> JsonDict:
    reader = _Reader(wrong)
    found: JsonDict = reader.value("", given, _form())
    if reader.wrong:
        many = f"{len(reader.wrong)} errors: " if reader.wrong[1:] else ""
        raise InputError(f"declarations: {many}{'; '.join(reader.wrong)}")
    return found


@functools.cache
def _form() -> Json:
    return questions.form()


def given(declared: str | PathLike[str] | Json | None) -> JsonDict | None:
    """Declarations of a path or of values; None if there are none.

    Raises
    ------
    InputError
        See `read`.
    """
    if declared is None:
        return None
    return checked(declared) if isinstance(declared, Mapping) else read(declared)


# ---------------------------------------------------------------- values


class _Reader:
    """Brings values into their one form, and collects what is wrong with them."""

    def __init__(self, wrong: list[str]) -> None:
        self.wrong = wrong

    def value(self, name: str, value: JsonValue, form: Json) -> JsonValue:
        """A value in its one form; None of one that has none."""
        if "anyOf" in form:
            text, other = form["anyOf"]
            form = text if isinstance(value, str) else other
            if form.get("minItems"):
                return self._checked(_world, name, value, form)
        if form.get("type") == "object":
            return self._table(name, value, form["properties"], form["required"])
        if form.get("type") == "array":
            return self._list(name, value, form["items"])
        return self._checked(_CHECKS.get(form.get("type", ""), _choice), name, value, form)

    def _checked(self, check: _Check, name: str, value: JsonValue, form: Json) -> JsonValue:
        try:
            return check(name, value, form)
        except InputError as error:
            self.wrong.append(str(error))
            return None

    def _list(self, name: str, value: JsonValue, form: Json) -> JsonValue:
        if not isinstance(value, list):
            self.wrong.append(f"{name} must be a list, got {type(value).__name__}")
        elif len(value) > _MOST:
            self.wrong.append(f"{name} must have at most {_MOST} items, got {len(value)}")
        else:
            return [self.value(f"{name}[{i}]", entry, form) for i, entry in enumerate(value)]
        return None

    def _table(self, name: str, value: JsonValue, keys: Mapping[str, Json], required: list[str]) -> JsonDict:
        if not isinstance(value, Mapping):
            words = "a text in quotes, or " if name.endswith("]") else ""
            self.wrong.append(f"{name} must be {words}a table with keys {', '.join(sorted(keys))}")
            return {}
        dot = f"{name}." if name else ""
        for key in value:
            if key not in keys:
                accepted = ", ".join(sorted(keys))
                self.wrong.append(f"{dot}{str(key)[:60]} is unknown; accepted: {accepted}")
        self.wrong += [f"{name} must have {key}" for key in required if key not in value]
        return {k: self.value(f"{dot}{k}", item, keys[k]) for k, item in value.items() if k in keys}


def _choice(said: str, value: JsonValue, form: Json) -> JsonValue:
    if value not in form["enum"]:
        raise InputError(f"{said} must be one of {', '.join(form['enum'])}, got {value!r}")
    return value


def _yes_no(said: str, value: JsonValue, form: Json) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{said} must be true or false, got {value!r}")
    return value


def _integer(said: str, value: JsonValue, form: Json) -> int:
    return validate.integer(said, value, least=form["minimum"], most=form["maximum"])


def _number(said: str, value: JsonValue, form: Json) -> float:
    return validate.positive(said, value)


def _text(said: str, value: JsonValue, form: Json) -> str:
    if type(value) is datetime.date and "pattern" in form:
        value = value.isoformat()
    if not isinstance(value, str):
        raise InputError(f"{said} must be text in quotes, got {type(value).__name__}")
    if len(value) > _LONGEST:
        raise InputError(f"{said} must have at most {_LONGEST} characters, got {len(value)}")
    text = value.strip()
    if not text and form.get("minLength"):
        raise InputError(f"{said} must not be empty; leave it out if there is nothing to say")
    if not re.search(form.get("pattern", ""), text):
        raise InputError(f"{said} must match {form['pattern']}, got {text[:60]!r}")
    return text


def _world(said: str, value: JsonValue, form: Json) -> JsonValue:
    """A list of numbers, or a list of equally long lists of numbers."""
    accepted = f"{said} must be words, a list of rewards or one list of rewards for each round"
    if not isinstance(value, list) or not value:
        raise InputError(f"{accepted}, got {type(value).__name__}")
    rows = value if all(isinstance(row, list) for row in value) else [value]
    if len({len(row) for row in rows}) != 1 or sum(map(len, rows)) > _NUMBERS:
        raise InputError(f"{accepted}, all of one length, with at most {_NUMBERS} numbers")
    for number in (number for row in rows for number in row):
        right = isinstance(number, int | float) and not isinstance(number, bool)
        if not right or not math.isfinite(number):
            raise InputError(f"{accepted}, got {str(number)[:60]!r} among them")
    numbers = [[float(number) for number in row] for row in rows]
    return numbers if rows is value else numbers[0]


_Check = Callable[[str, JsonValue, Json], JsonValue]
_CHECKS: Mapping[str, _Check] = {
    "boolean": _yes_no,
    "integer": _integer,
    "number": _number,
    "string": _text,
}
STARTER = "\n".join(_template())
