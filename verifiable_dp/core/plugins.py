"""What packages register by entry points: found by name, refused in one line where it cannot be had.

An audited package can register something, too, and a record can name it. So code of other packages than this
one is imported only where code of targets runs, or by leave of whoever set `ALLOWED`; what is audited never
judges itself.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import TypeVar

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign, InputError, one_line

Registered = TypeVar("Registered")
Loaded = TypeVar("Loaded")
ALLOWED = "VERIFIABLE_DP_PLUGINS"  # packages, with commas between them; * for all
AUDITORS, CONTEXTUAL = "verifiable_dp.auditors", "verifiable_dp.contextual"
_OURS = __name__.partition(".")[0]
_AUDITED: ContextVar[Sequence[str]] = ContextVar("audited", default=())


@contextmanager
def judging(*targets: str) -> Iterator[None]:
    """Within this block nothing is imported that is part of these targets, given as names or files."""
    token = _AUDITED.set(targets)
    try:
        yield
    finally:
        _AUDITED.reset(token)


def kept_out(point: EntryPoint) -> str:
    """Why what an entry point names is not imported in this process; empty if it may be."""
    if _top(point.module) == _OURS:
        return ""
    package = point.dist.name if point.dist else _top(point.module)
    allowed = {_normal(one) for one in os.environ.get(ALLOWED, "").split(",")}
    if not {"*", _normal(package)} & allowed:
        return f"code from {package} runs only if you allow it: set {ALLOWED}={package}"
    if any(_is_part(point, package, target) for target in _AUDITED.get()):
        return f"{package} is being audited, and must not judge itself"
    return ""


def _is_part(point: EntryPoint, package: str, target: str) -> bool:
    """Whether an entry point and a target are of one package, or of one tree of files."""
    tops, place = set[str](), target.rpartition(":")[0] or target
    if place.endswith(".py"):
        root: Path | None = Path(place).resolve().parent
    else:
        listed = [*_points(AUDITORS).get(target, ()), *_points(CONTEXTUAL).get(target, ())]
        tops = {_top(one.module) for one in listed} or {_top(place)}
        root = _located(min(tops))
    if _top(point.module) in tops or (point.dist is not None and tops & set(_tops(point.dist))):
        return True
    own = _located(_top(point.module))
    if own is None or root is None:
        return False
    # What is installed into an environment that lies in the tree is not part of it.
    inside = own.is_relative_to(root) and (paths.installed(str(root)) or not paths.installed(str(own)))
    return inside or root.is_relative_to(own)


def _tops(package: Distribution) -> Iterator[str]:
    """Names of what a package has installed that can be imported."""
    yield from (package.read_text("top_level.txt") or "").split()
    yield from (Path(file.parts[0]).stem for file in package.files or ())


def _located(top: str) -> Path | None:
    """The folder of a package, or the file of a module; nothing is imported."""
    spec = PathFinder.find_spec(top, paths.of_targets())
    places = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin]
    return next((Path(place).resolve() for place in places if place), None)


def _top(module: str) -> str:
    return module.partition(".")[0]


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package.strip()).lower()


@functools.cache
def _registered() -> list[EntryPoint]:
    """What all packages register, also those in folders from which this process imports nothing."""
    found: dict[str, Distribution] = {}
    for package in distributions(path=[*sys.path, *paths.left_out()]):
        if f"[{_OURS}." in (package.read_text("entry_points.txt") or ""):
            found.setdefault(_normal(package.name), package)  # of one name, that of this process comes first
    return [point for package in found.values() for point in package.entry_points]


def entry_points(group: str) -> list[EntryPoint]:
    """What is registered in a group; nothing is imported."""
    return [point for point in _registered() if point.group == group]


@functools.cache
def _points(group: str) -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group), key=lambda point: (point.name, point.value)):
        same = found.setdefault(point.name, [])
        if point.value not in [each.value for each in same]:
            same.append(point)
    return found


def load(point: EntryPoint) -> Foreign:
    """What an entry point names that may be imported here: by that leave, its folder may hold libraries."""
    if point.dist is not None and (place := str(point.dist.locate_file(""))) in paths.left_out():
        sys.path.append(place)
    return point.load()


def _loaded(point: EntryPoint, form: Callable[[Foreign], Loaded]) -> Loaded:
    """What an entry point names, in a form; importing it runs code of its package."""
    if why := kept_out(point):
        raise InputError(f"{point.group.rpartition('.')[2]}: {point.value} is not imported: {why}")
    try:
        return form(load(point))
    except Exception as error:
        what = point.group.rpartition(".")[2]
        raise InputError(f"{what}: {point.value} cannot be imported: {one_line(error)}") from None


def may_be(group: str, name: str) -> bool:
    """Whether what is registered under a name may be imported here, where something is."""
    return not any(map(kept_out, _points(group).get(name, ())))


def names(group: str) -> tuple[str, ...]:
    """Names that are registered in a group and may be imported here, sorted."""
    return tuple(name for name in _points(group) if may_be(group, name))


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
            f"{what} must be one of {known}, got {name!r}; install the package that registers it (entry "
            f"point of group {group})"
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

    Those of packages that may not be imported here are left out.

    Raises
    ------
    InputError
        If one is no sequence of the kind, cannot be imported, or two rows have one key.
    """
    found: dict[Hashable, Registered] = {}
    for point in (point for points in _points(group).values() for point in points):
        if kept_out(point):
            continue
        for row in _loaded(point, list[object]):
            if not isinstance(row, kind) or key(row) in found:
                what = group.rpartition(".")[2]
                raise InputError(f"{what}: {point.value} must contain each {kind.__name__} once, got {row!r}")
            found[key(row)] = row
    return found
