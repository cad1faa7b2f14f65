"""Arguments of the functions of the API: targets, as objects or by name, and their parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from typing import TypedDict

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import Function, Given, InputError, Json, instead
from verifiable_dp.registry import entries as registry
from verifiable_dp.targets import guard, loaded, source
from verifiable_dp.targets.guard import check_outside
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.source import load

Target = Algorithm | Function[object] | Exec | str
Declared = str | PathLike[str] | Json | None


class Sizes(TypedDict, total=False):
    """Budget, seed and workers, as `audit` takes them."""

    budget: str
    seed: int
    workers: int


def resolve(target: Target, files: Collection[str] | None = None) -> tuple[Given, str]:
    """The object that a target names, and the name under which it is reported; `files` as `source.load`.

    Raises
    ------
    InputError
        If the name is unknown or what it names cannot be audited.
    """
    check_outside()
    name = name_of(target)
    if isinstance(target, str) and ":" in target:
        if not guard.Child.inside:
            return load(target, files), name
        source.find(target)
        loaded.forget()
        thing = load(target, files)
        loaded.check()
        return thing, name
    if isinstance(target, str):
        return registry.auditor(target), name
    return target, name


def name_of(target: Target) -> str:
    """The name under which a target is reported; imports nothing."""
    if isinstance(target, str):
        return target
    if isinstance(target, Algorithm):
        return target.name
    if isinstance(target, Exec):
        return target.command
    if callable(target):
        return str(getattr(target, "__qualname__", type(target).__name__))
    raise InputError(
        "target must be a catalogue name, file.py:name, package.module:name, an algorithm, a callable or "
        f"Exec, got {type(target).__name__}"
    )


def instance(name: str, /, **given: Given) -> Algorithm:
    """A catalogue algorithm with its auditor's default parameters, except for those given (None: default).

    Raises
    ------
    InputError
        If the name is unknown or a parameter does not fit.
    """
    auditor = registry.auditor(name)
    parameters = dict(auditor.instance)
    chosen = {key: value for key, value in given.items() if value is not None}
    takes = auditor.algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    for key in chosen:
        if key not in takes:
            raise InputError(f"{name} has no parameter {key}; {instead(key, takes)}")
    # A default that was tuned to another epsilon or horizon still is a legal one.
    return registry.make(name, **{**parameters, **chosen})


def listed(target: Target | None) -> bool:
    """Whether a name is in the catalogue."""
    return isinstance(target, str) and ":" not in target


def mapping(parameters: Given) -> Json:
    """Parameters, none if they are None.

    Raises
    ------
    InputError
        If they are not a mapping of names to values.
    """
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise InputError(f"parameters must be a mapping of names to values, got {parameters!r}")
    return parameters


def given_parameters(parameters: Json | None, given: Json) -> Json:
    """The parameters of a catalogue algorithm; none may also be given as a separate argument."""
    for name in parameters or {}:
        if given.get(name) is not None:
            raise InputError(f"parameters must not contain {name}, because it is also a keyword argument")
    return parameters or {}


def fields_of(algorithm: type[Algorithm]) -> Json:
    """Its parameters, by name."""
    fields: Json = algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    return fields
