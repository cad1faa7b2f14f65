"""Rewards that code makes by itself, replaced by those of a table while it plays."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import numpy as np

from verifiable_dp.core.validate import Foreign, Function, InputError
from verifiable_dp.targets.roles import ARM, parameters_of
from verifiable_dp.targets.tables import TableWorld

ONE_ARM = (
    "reward: {} always received {} as its only whole number, so we cannot tell whether it is the "
    f"arm; call the arm's parameter {ARM[0]}"
)


class Replacement:
    """Puts a table in the place of a function that pays."""

    @staticmethod
    @contextmanager
    def of(name: str, world: TableWorld) -> Iterator[None]:
        """While it lasts, the function called `name`, as ``file.py:Class.method``, pays what the table holds.

        Raises
        ------
        InputError
            If there is no such function.
        """
        if not name:
            yield
            return
        owner, last, function = found(name)
        held = inspect.getattr_static(owner, last)
        method = inspect.isclass(owner) and inspect.isfunction(held)
        paying = _paying(function, method, world)
        places = [(owner, last)]
        if not inspect.isclass(owner):  # others may have imported it by a name of their own
            places += [(module, word) for module, word in _bound(function) if module is not owner]
        for place, word in places:
            setattr(place, word, staticmethod(paying) if isinstance(held, staticmethod) else paying)
        try:
            yield
        finally:
            for place, word in places:
                setattr(place, word, held)


class _Bound:
    """What was looked for last, among how many modules, and the names that it had: a run takes less time."""

    function: Foreign = None
    modules = 0
    places: Sequence[tuple[ModuleType, str]] = ()


def _bound(function: Foreign) -> list[tuple[ModuleType, str]]:
    """Modules that know a function, each with its name there."""
    if _Bound.function is not function or _Bound.modules != len(sys.modules):
        _Bound.function, _Bound.modules = function, len(sys.modules)
        _Bound.places = [
            (module, word)
            for module in list(sys.modules.values())
            if getattr(module, "__dict__", None)
            for word, value in list(vars(module).items())
            if value is function
        ]
    return [(module, word) for module, word in _Bound.places if vars(module).get(word) is function]


def found(name: str) -> tuple[Foreign, str, Foreign]:
    """The module or class that holds what is called `name`, its last name there, and what it is.

    Raises
    ------
    InputError
        If its module was not imported with the target, or has no such function.
    """
    place, _, path = name.rpartition(":")
    stem = place.removesuffix(".py").replace("\\", "/").rpartition("/")[2]
    owner: Foreign = sys.modules.get(stem if place.endswith(".py") else place)
    if not place or owner is None:
        raise InputError(
            f"reward must be file.py:function, file.py:Class.method or module:function of a module that the "
            f"target imports, got {name!r}"
        )
    *holders, last = path.split(".")
    try:
        for word in holders:
            owner = getattr(owner, word)
        function = getattr(owner, last)
    except AttributeError:
        raise InputError(f"reward: {place} has no {path!r}") from None
    if not callable(function):
        raise InputError(f"reward: {name} must be a function or a method, got {type(function).__name__}")
    return owner, last, function


def arm_parameter(function: Function[Foreign]) -> str:
    """Name of the parameter that says which arm is pulled; empty if none is named after it."""
    return next((word for word in parameters_of(function) if word in ARM), "")


def _number(value: Foreign) -> float | None:
    return float(value) if isinstance(value, float | np.floating) else None


def _paying(function: Function[Foreign], method: bool, world: TableWorld) -> Function[Foreign]:
    parameters, arm, last = list(parameters_of(function)), arm_parameter(function), function.__name__

    def pay(*args: Foreign, **named: Foreign) -> Foreign:
        given = dict(zip(parameters, args, strict=False)) | named
        if arm in given:
            return world.pull(given[arm], last)
        means = [value for value in (*args, *named.values()) if _number(value) in world.means]
        if len(means) == 1:
            return world.pull(world.means.index(float(means[0])), last)
        whole = [
            value
            for value in (*args[int(method) :], *named.values())
            if isinstance(value, int | np.integer) and not isinstance(value, bool)
        ]
        if len(whole) != 1:
            raise InputError(
                f"reward: {function.__qualname__} must have a parameter called {ARM[0]} or {ARM[2]}, or "
                f"receive the mean of an arm or exactly one whole number, got {len(whole)} whole numbers"
            )
        world.guessed.add(int(whole[0]))
        return world.pull(whole[0], last)

    return pay
