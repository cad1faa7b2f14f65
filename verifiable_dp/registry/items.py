"""Numbered items of the papers, each with its place in the code and what is to be said of it.

A package registers its items with an entry point of group ``verifiable_dp.papers`` that names a sequence of
`Item` objects; `read` makes them from a TOML file. Claims, errata and statements of studies join an item by
the number in their source.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from verifiable_dp.core import files, plugins
from verifiable_dp.core.validate import Given, InputError, JsonDict, Result, one_line

GROUP = "verifiable_dp.papers"
_LARGEST = 1 << 20  # bytes of a file about a paper
KINDS = (
    "Algorithm",
    "Theorem",
    "Lemma",
    "Corollary",
    "Proposition",
    "Fact",
    "Remark",
    "Figure",
    "Table",
    "Section",
)
_NUMBER = r"\d+(?:\.\d+)?"
_BESIDE = re.compile(r"\b(?:proofs? of|against)\b")
_NAMED = re.compile(rf"({'|'.join(KINDS)})s? ({_NUMBER}(?:(?:, and |, | and | to ){_NUMBER})*)")


@dataclass(frozen=True)
class Item:
    """A listing, a theorem, a figure, … of a paper.

    Parameters
    ----------
    paper
        As it is cited by claims.
    number
        Such as ``Theorem 4.3``.
    code
        Where it is in the code, ``module:name``.
    remark
        How loose it is, or how the code deviates, in a sentence; ``As printed.`` if neither.
    says
        What it says, in a sentence; needed where no claim of the catalogue states it.
    algorithm
        Of a listing: the catalogue's name of it, whose privacy promise joins.
    tests
        Tests of the repository that check it, ``file::function``; what they check is in `says`.
    restates
        Other items of the paper that say the same.

    Raises
    ------
    InputError
        If something is missing, or `code` or a test is not of that form.
    """

    paper: str
    number: str
    code: str
    remark: str
    says: str = ""
    algorithm: str = ""
    tests: tuple[str, ...] = ()
    restates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.paper and self.remark) or numbers(self.number) != {self.number}:
            raise InputError(f"item must have a paper, one number and a remark, got {self}")
        if self.code.count(":") != 1 or any(test.count("::") != 1 for test in self.tests):
            raise InputError(f"item must name code as module:name, and tests as file::function, got {self}")
        if self.tests and not self.says:
            raise InputError(f"item must have the field `says` if it has tests, got {self}")

    @property
    def about(self) -> set[str]:
        """Its number, and those of what it restates."""
        return {self.number, *self.restates}


def rows(path: str | PathLike[str], kind: str) -> list[JsonDict]:
    """The tables ``[[kind]]`` of a TOML file about a paper.

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    """
    return list(files.toml("paper", path, _LARGEST).get(kind, ()))


def made(form: type[Result], row: JsonDict, **given: Given) -> Result:
    """A dataclass from a row and what is `given` beside it; a text may be several lines, joined by spaces.

    Raises
    ------
    InputError
        If the row has another field, lacks one, or the dataclass refuses a value.
    """
    types: Mapping[str, str] = form.__annotations__
    values = dict(given)
    for name, value in row.items():
        lines = isinstance(value, list)
        values[name] = (
            tuple(value) if str(types.get(name)).startswith("tuple") else " ".join(value) if lines else value
        )
    try:
        return form(**values)
    except TypeError as error:
        raise InputError(f"{form.__name__.lower()}: {one_line(error)}, got {row}") from None


def read(path: str | PathLike[str], paper: str) -> tuple[Item, ...]:
    """The items ``[[item]]`` of a TOML file about a paper: the fields of `Item` but `paper`.

    Raises
    ------
    InputError
        As `rows` and `made`.
    """
    return tuple(made(Item, row, paper=paper) for row in rows(path, "item"))


def numbers(text: str) -> set[str]:
    """The items that a source names: ``Lemmas 3 and 5`` are two, ``Algorithms 1 to 3`` are three."""
    return set(_numbers(text))


def stated(text: str) -> set[str]:
    """Those of `numbers` that a source is about themselves, and not their proof or what contradicts them."""
    return numbers(_BESIDE.split(text)[0])


def _numbers(text: str) -> Iterator[str]:
    for kind, listed in _NAMED.findall(text):
        found = re.findall(_NUMBER, listed)
        for first, last in re.findall(rf"({_NUMBER}) to ({_NUMBER})", listed):
            if first.isdigit() and last.isdigit():
                found += [str(number) for number in range(int(first), int(last))]
        for number in found:
            yield f"{kind} {number}"


@functools.cache
def located(code: str) -> str:
    """``file:line`` of ``module:name``, the file as seen from the package's parent folder.

    Raises
    ------
    InputError
        If there is no such name.
    """
    module, name = code.split(":")
    try:
        found: Given = importlib.import_module(module)
        for part in name.split("."):
            found = inspect.getattr_static(found, part)
        source = inspect.unwrap(getattr(found, "fget", None) or found)
        line = inspect.getsourcelines(source)[1]
        file = Path(str(inspect.getsourcefile(source)))
    except (ImportError, AttributeError, TypeError, OSError) as error:
        raise InputError(f"item: {code} is not in the code: {one_line(error)}") from None
    top = Path(str(importlib.import_module(module.split(".")[0]).__file__)).parent
    parts = file.parts
    return f"{'/'.join(parts[parts.index(top.name) :]) if top.name in parts else file.name}:{line}"


def registered() -> list[Item]:
    """All registered items, in the order of their packages.

    Raises
    ------
    InputError
        If something registered cannot be imported, is not a sequence of `Item`, or two have one number.
    """
    return list(plugins.rows(GROUP, Item, lambda item: (item.paper, item.number)).values())
