"""The catalogue: auditors, and through them algorithms, found by entry points.

A package registers with an entry point of group ``verifiable_dp.auditors`` that names an `Auditor`
object; ours does it in the same way. Bandits that are told contexts have a group of their own,
``verifiable_dp.contextual``: what plays tables of rewards knows nothing of them.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import inspect
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from verifiable_dp.core import frames, plugins
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import Given, InputError, JsonDict, instead, one_line
from verifiable_dp.registry.auditor import Auditor

if TYPE_CHECKING:
    import pandas as pd

GROUP, CONTEXTUAL = plugins.AUDITORS, plugins.CONTEXTUAL


@functools.cache
def _points() -> JsonDict:
    found: JsonDict = {}
    for point in (*plugins.entry_points(GROUP), *plugins.entry_points(CONTEXTUAL)):
        if point.name in found and found[point.name].value != point.value:
            raise InputError(
                f"catalogue: two packages register {point.name!r}: "
                f"{found[point.name].value} and {point.value}"
            )
        found[point.name] = point
    return found


def names() -> list[str]:
    """Names of all registered algorithms that may be imported here, but those with contexts, sorted."""
    return _of_group(GROUP)


def contextual() -> list[str]:
    """As `names`, of those that are told contexts."""
    return _of_group(CONTEXTUAL)


def _of_group(group: str) -> list[str]:
    known = _points().items()
    return sorted(name for name, point in known if point.group == group and not plugins.kept_out(point))


def every() -> list[str]:
    """Names of all registered algorithms that may be imported here, sorted."""
    return sorted([*names(), *contextual()])


@functools.cache
def _own() -> frozenset[str]:
    try:
        points = distribution("verifiable-dp").entry_points
    except PackageNotFoundError:
        return frozenset()
    return frozenset(point.name for point in points if point.group in (GROUP, CONTEXTUAL))


def is_registered(name: str) -> bool:
    """Whether any package registers `name`; nothing is imported."""
    return name in _points()


def ours(name: str) -> bool:
    """Whether this package registers `name`; nothing is imported."""
    return name in _own()


def outside(name: str) -> bool:
    """Whether another package registers `name`; nothing is imported."""
    return is_registered(name) and not ours(name)


def module_of(name: str) -> str:
    """The module that registers `name`, with the object in it; nothing is imported."""
    return str(_points()[name].value)


def auditor(name: str) -> Auditor:
    """The auditor registered under `name`.

    Raises
    ------
    InputError
        If the name is unknown, what is registered cannot be imported, or is not an `Auditor` of that name.
    """
    if not isinstance(name, str):
        raise InputError(f"algorithm must be a name that catalogue() lists, got {type(name).__name__}")
    return _loaded(name)


def _code(name: str) -> str:
    """The target that a name with a dot for a colon may stand for; empty if there is no such code."""
    module, dot, attribute = name.rpartition(".")
    if not dot or not all(part.isidentifier() for part in name.split(".")):
        return ""
    file = Path(*module.split(".")).with_suffix(".py")
    if file.is_file():
        return f"{file.as_posix()}:{attribute}"
    known = importlib.util.find_spec(module.partition(".")[0]) is not None
    return f"{module}:{attribute}" if known else ""


@functools.cache
def _loaded(name: str) -> Auditor:
    points = _points()
    if name not in points:
        near = difflib.get_close_matches(name, points, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        if name.endswith(".py"):
            raise InputError(f"target: {name!r} is a file; name what to audit in it: {name}:NAME")
        if meant := _code(name):
            raise InputError(f"target: {name!r} is not in the catalogue; did you mean {meant}?")
        raise InputError(
            f"algorithm: unknown name {name!r}; known names are {', '.join(sorted(points))}{hint}"
        )
    if why := plugins.kept_out(points[name]):
        raise InputError(f"catalogue: {points[name].value} ({name!r}) is not imported: {why}")
    try:
        loaded = plugins.load(points[name])
    except Exception as error:
        raise InputError(
            f"catalogue: {points[name].value} ({name!r}) cannot be imported: {one_line(error)}"
        ) from None
    if not isinstance(loaded, Auditor) or loaded.name != name:
        raise InputError(f"catalogue: {points[name].value} is not an Auditor of {name!r}")
    return loaded


def find(algorithm: Algorithm) -> Auditor | None:
    """The auditor of an algorithm's class; None if it is not in the catalogue."""
    name = getattr(algorithm, "name", "")
    if name not in _points():
        return None
    found = auditor(name)
    return found if type(algorithm) is found.algorithm else None


def make(name: str, /, **parameters: Given) -> Algorithm:
    """Make a catalogue algorithm, such as ``make("dp-se", n_arms=5, epsilon=1.0, horizon=50_000_000)``.

    Raises
    ------
    InputError
        If the name or a parameter is unknown, or a parameter is missing or out of range.
    """
    algorithm = auditor(name).algorithm
    try:
        return algorithm(**parameters)
    except TypeError as error:
        known = [*inspect.signature(algorithm).parameters]
        for one in parameters:
            if one not in known:
                raise InputError(f"{name} has no parameter {one}; {instead(one, known)}") from None
        reason = str(error).split("__init__() ")[-1]
        raise InputError(f"{name}: {reason}") from None


def catalogue() -> pd.DataFrame:
    """All registered algorithms, with columns name, paper, model and claims.

    If an algorithm cannot be imported, its model is ``broken``, and the column ``paper`` gives the reason.

    Raises
    ------
    InputError
        If pandas is missing.
    """
    frames.needed()
    import pandas as pd

    return pd.DataFrame(listed(), columns=["name", "paper", "model", "claims"])


def listed() -> list[dict[str, str]]:
    """The rows of `catalogue`."""
    rows = []
    for name in sorted(_points()):
        try:
            found = auditor(name)
        except InputError as error:
            rows.append({"name": name, "paper": str(error), "model": "broken", "claims": ""})
            continue
        promise = found.algorithm(**found.instance).claim
        claims = ([promise.source.statement] if promise and promise.source else []) + [
            claim.source.statement for claim in found.claims
        ]
        rows.append({"name": name, "paper": found.paper, "model": found.model, "claims": "; ".join(claims)})
    return rows
