"""Whether what an algorithm does is this package's own code: only its doors to the data are known.

A certificate is read off a few forced outputs in each public state. Code of others may do something else at
outputs, at data or at a time that were not tried, so that nothing is certified of it.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
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
_NOTES = frozenset(  # of Python and its libraries on a class, which nothing of it runs
    ("__annotations__", "__orig_bases__", "__parameters__", "_abc_impl", "__dataclass_fields__")
)
_OF_PYTHON = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.BuiltinFunctionType,
    type(vars(dataclasses.make_dataclass("_", ()))["__dataclass_params__"]),
)
_SCALARS = {*np.sctypeDict.values()} - {np.object_, np.void}  # a subclass may compute as it likes
_PLAIN = (type(None), bool, int, float, complex, str, bytes, *_SCALARS)


def ours(value: Foreign) -> bool:
    """Whether a value is plain data, or an object of this package's own classes that holds such alone.

    Objects are compared, never names: a function belongs to the module whose globals it has.
    """
    return _ours(value, set())


def _ours(value: Foreign, seen: set[int]) -> bool:
    if type(value) in _PLAIN or id(value) in seen:
        return True
    seen.add(id(value))
    if type(value) is np.ndarray:
        return not value.dtype.hasobject
    if type(value) in (tuple, list, set, frozenset):
        return all(_ours(item, seen) for item in value)
    if type(value) is dict:
        return all(_ours(item, seen) for pair in value.items() for item in pair)
    if isinstance(value, enum.Enum):
        return is_own_class(type(value))
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
    """Whether a class and its bases are this package's own, with the functions and data that it gave them."""
    return all(base in _BASES or (is_own_class(base) and _members(base)) for base in kind.__mro__)


def is_own_class(kind: type) -> bool:
    """Whether a class is what a module of this package has under its name."""
    module = sys.modules.get(kind.__module__)
    if module is None or not _of_package(vars(module)):
        return False
    found: Foreign = module
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if isinstance(found, types.ModuleType | type) else None
    return found is kind


def _members(kind: type) -> bool:
    return all(_member(member) for name, member in vars(kind).items() if name not in _NOTES)


def _member(member: Foreign) -> bool:
    if isinstance(member, property):
        return all(_member(part) for part in (member.fget, member.fset, member.fdel) if part)
    if isinstance(member, functools.cached_property):
        return _member(member.func)
    if isinstance(member, (staticmethod, classmethod)):
        return _member(member.__func__)
    if isinstance(member, types.FunctionType):
        return _of_package(member.__globals__) or any(member.__globals__ is names for names in _MAKERS)
    return isinstance(member, _OF_PYTHON) or _ours(member, set())
