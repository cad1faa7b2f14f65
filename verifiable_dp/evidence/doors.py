"""Whether what an algorithm does is this package's own code: only its doors to the data are known.

A certificate is read off a few forced outputs in each public state. Code of others may do something else at
outputs, at data or at a time that were not tried, so that nothing is certified of it.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import reprlib
import sys
import types
import typing
from pathlib import Path

import numpy as np

from verifiable_dp.core.validate import Foreign

_ROOT = Path(__file__).parents[1]
_BASES = (object, abc.ABC, typing.Generic, typing.Protocol)
_MAKERS = tuple(vars(module) for module in (abc, dataclasses, functools, reprlib, typing))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def ours(value: Foreign) -> bool:
    """Whether a value is plain data, or an object of this package's own classes that holds such alone.

    Objects are compared, never names: a function belongs to the module whose globals it has.
    """
    return _ours(value, set())


def _ours(value: Foreign, seen: set[int]) -> bool:
    if type(value) in _PLAIN or isinstance(value, np.generic) or id(value) in seen:
        return True
    seen.add(id(value))
    if type(value) in (tuple, list, set, frozenset):
        return all(_ours(item, seen) for item in value)
    if type(value) is dict:
        return all(_ours(item, seen) for pair in value.items() for item in pair)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return _of_package(value.__globals__) and all(_ours(item, seen) for item in cells)
    if isinstance(value, types.MethodType):
        return _ours(value.__func__, seen) and _ours(value.__self__, seen)
    if isinstance(value, type):
        return _class(value)
    return _class(type(value)) and all(_ours(item, seen) for item in getattr(value, "__dict__", {}).values())


@functools.lru_cache(maxsize=1024)
def _of_file(origin: str | None) -> bool:
    return origin is not None and _ROOT in Path(origin).parents


def _of_package(names: dict[str, Foreign]) -> bool:
    """Whether these are the globals of a module that was loaded from this package's folder."""
    module = sys.modules.get(str(names.get("__name__")))
    if module is None or vars(module) is not names:
        return False
    return _of_file(getattr(module.__spec__, "origin", None))


def _class(kind: type) -> bool:
    """Whether every function of a class and of its bases is of this package, or made by `dataclass`."""
    return all(
        _member(member) for base in kind.__mro__ if base not in _BASES for member in vars(base).values()
    )


def _member(member: Foreign) -> bool:
    if isinstance(member, property):
        return all(_member(part) for part in (member.fget, member.fset, member.fdel) if part)
    if isinstance(member, functools.cached_property):
        return _member(member.func)
    if isinstance(member, (staticmethod, classmethod)):
        return _member(member.__func__)
    if isinstance(member, types.FunctionType):
        return _of_package(member.__globals__) or any(member.__globals__ is names for names in _MAKERS)
    return not callable(member) or isinstance(member, type)
