"""What packages register by entry points: found by name, refused in one line where it cannot be had."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from verifiable_dp.core.validate import InputError, one_line

Registered = TypeVar("Registered")


@functools.cache
def _points(group: str) -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        same = found.setdefault(point.name, [])
        if point.value not in [each.value for each in same]:
            same.append(point)
    return found


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
    try:
        found = point.load()
    except Exception as error:
        raise InputError(f"{what}: {point.value} cannot be imported: {one_line(error)}") from None
    if not isinstance(found, kind) or getattr(found, "name", name) != name:
        raise InputError(f"{what}: {point.value} must be the {kind.__name__} {name!r}, got {found!r:.100}")
    return found
