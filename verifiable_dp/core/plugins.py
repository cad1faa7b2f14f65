"""What packages register by entry points: found by name, refused in one line where it cannot be had."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from verifiable_dp.core.validate import Foreign, InputError, one_line

Registered = TypeVar("Registered")
Loaded = TypeVar("Loaded")


@functools.cache
def _points(group: str) -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        same = found.setdefault(point.name, [])
        if point.value not in [each.value for each in same]:
            same.append(point)
    return found


def _loaded(point: EntryPoint, form: Callable[[Foreign], Loaded]) -> Loaded:
    """What an entry point names, in a form; importing it runs code of its package."""
    try:
        return form(point.load())
    except Exception as error:
        what = point.group.rpartition(".")[2]
        raise InputError(f"{what}: {point.value} cannot be imported: {one_line(error)}") from None


def names(group: str) -> tuple[str, ...]:
    """Names that are registered in a group, sorted."""
    return tuple(_points(group))


def registered(group: str, name: str, kind: type[Registered]) -> Registered:
    """What is registered under a name.

    Raises
    ------
    InputError
        If it is nothing, or something else, if two packages register it, or if importing it fails.
    """
    what, points = group.rpartition(".")[2], _points(group).get(name, [])
    if not points:
        known = ", ".join(names(group))
        raise InputError(
            f"{what}: must be one of {known}, got {name!r}; install the package that registers it "
            f"(entry point of group {group})"
        )
    if len(points) > 1:
        both = " and ".join(point.value for point in points)
        raise InputError(f"{what}: {name!r} is registered by {both}; uninstall the package of one of them")
    (point,) = points
    found = _loaded(point, lambda found: found)
    if not isinstance(found, kind) or getattr(found, "name", name) != name:
        raise InputError(f"{what}: {point.value} must be the {kind.__name__} {name!r}, got {found!r:.100}")
    return found


def rows(
    group: str, kind: type[Registered], key: Callable[[Registered], Hashable]
) -> dict[Hashable, Registered]:
    """All rows of the sequences that are registered in a group, by their key, in the order of the packages.

    Raises
    ------
    InputError
        If one is no sequence of the kind, cannot be imported, or two rows have one key.
    """
    found: dict[Hashable, Registered] = {}
    for point in (point for points in _points(group).values() for point in points):
        for row in _loaded(point, list[object]):
            if not isinstance(row, kind) or key(row) in found:
                what = group.rpartition(".")[2]
                raise InputError(f"{what}: {point.value} must hold each {kind.__name__} once, got {row!r}")
            found[key(row)] = row
    return found
