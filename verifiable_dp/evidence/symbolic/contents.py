"""What a search of a module's globals finds, kept for as long as the module is what it was.

A bound runs a program hundreds of times, and each run would search every module of the program anew.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, is_
from typing import Any, TypeVar

from verifiable_dp.evidence.symbolic.terms import PREFIX

_MODULES, _STATES = 256, 16  # that are remembered, and of each of them
_STATE = attrgetter("__code__", "__defaults__", "__module__")
_known: dict[int, _Contents] = {}
_Found = TypeVar("_Found")


class _Contents:
    """Everything that a search of a module can see but the states of its functions.

    The objects themselves are held: of one that is gone, another could have the address.
    """

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.scope = scope
        self.names, self.values = _named(scope)
        self.classes = [value for value in self.values if isinstance(value, type)]
        self.members = [[*vars(kind)] for kind in self.classes]
        self.parts = [[*vars(kind).values()] for kind in self.classes]
        self.functions = list(_functions([*self.values, *(part for parts in self.parts for part in parts)]))
        self.found: dict[tuple[Any, ...], tuple[Any, dict[Any, Any]]] = {}

    def is_that_of(self, scope: Mapping[str, Any]) -> bool:
        """Whether the module has the same names for the same objects still."""
        names, values = _named(scope)
        return (
            self.scope is scope
            and self.names == names
            and _same(self.values, values)
            and all([*vars(k)] == names for k, names in zip(self.classes, self.members, strict=True))
            and all(_same([*vars(k).values()], p) for k, p in zip(self.classes, self.parts, strict=True))
        )

    def at_present(self) -> dict[Any, Any]:
        """What is known of the module with its functions as they are."""
        states = [_STATE(function) for function in self.functions]
        key = tuple([id(part) for state in states for part in state])
        if key not in self.found:
            if len(self.found) >= _STATES:
                self.found.clear()
            self.found[key] = states, {}
        return self.found[key][1]


def _named(scope: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Names of the module and their values, without what is put into it for a run."""
    names = [name for name in scope if not name.startswith(PREFIX)]
    return names, [scope[name] for name in names]


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def _functions(values: Iterable[Any]) -> Iterable[types.FunctionType]:
    """The functions among these, in properties and methods, and those that they wrap."""
    for value in values:
        part = value.fget if isinstance(value, property) else value
        part = part.__func__ if isinstance(part, staticmethod | classmethod) else part
        seen = 0
        while isinstance(part, types.FunctionType) and seen < 100:
            yield part
            part, seen = part.__dict__.get("__wrapped__"), seen + 1


def known(scope: Mapping[str, Any]) -> dict[Any, Any]:
    """What is remembered of a module as it is now; a search puts there what it found."""
    contents = _known.get(id(scope))
    if contents is None or not contents.is_that_of(scope):
        if len(_known) >= _MODULES:
            _known.clear()
        contents = _known[id(scope)] = _Contents(scope)
    return contents.at_present()


def once(
    search: Callable[[Mapping[str, Any]], Iterable[_Found]],
) -> Callable[[Mapping[str, Any]], list[_Found]]:
    """The search, whose finds are remembered: they must follow from names, values and functions alone."""

    @functools.wraps(search)
    def found(scope: Mapping[str, Any]) -> list[_Found]:
        past: dict[Any, list[_Found]] = known(scope)
        if search not in past:
            past[search] = [*search(scope)]
        return past[search]

    return found
