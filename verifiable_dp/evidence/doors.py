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
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

from verifiable_dp.core.validate import Foreign

_ROOT = Path(__file__).parents[1]
_BASES = (object, abc.ABC, typing.Generic, typing.Protocol)
_MAKERS = tuple(vars(module) for module in (abc, dataclasses, functools, reprlib, typing))
_NOTES = frozenset(  # of Python and its libraries on a class, which nothing of it runs
    ("__annotations__", "__orig_bases__", "__parameters__", "_abc_impl", "__dataclass_fields__")
)
_DATACLASS = vars(dataclasses.make_dataclass("_", (), order=True, frozen=True))
_GENERATED = frozenset(name for name, one in _DATACLASS.items() if isinstance(one, types.FunctionType))
_OF_PYTHON = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.BuiltinFunctionType,
    type(_DATACLASS["__dataclass_params__"]),
)
_SCALARS = {*np.sctypeDict.values()} - {np.object_, np.void}  # a subclass may compute as it likes
_PLAIN = (type(None), bool, int, float, complex, str, bytes, *_SCALARS)


def ours(value: Foreign) -> bool:
    """Whether a value is plain data, or an object of this package's own classes that holds such alone.

    Objects are compared. A function is ours if it has the globals of a module of ours, and code that the
    source of this module compiles to: anybody can make a function with our globals. Only where pytest has
    changed the code of this module is it known by its place and its name.
    """
    return _ours(value, set())


def _ours(value: Foreign, seen: set[int]) -> bool:
    if isinstance(value, type):
        return _class(value, seen)
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
        return _function(value, seen)
    if isinstance(value, types.MethodType):
        return _ours(value.__func__, seen) and _ours(value.__self__, seen)
    return (
        _class(type(value), seen)
        and _shadows_nothing(value)
        and all(_ours(item, seen) for item in _held(value))
    )


def _function(function: types.FunctionType, seen: set[int]) -> bool:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    given = (*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return _is_written(function) and all(_ours(item, seen) for item in given)


def _is_written(function: types.FunctionType) -> bool:
    """Whether a function has the globals of a module of this package and code that stands in its file."""
    names, code = function.__globals__, function.__code__
    if not _of_package(names):
        return False
    spec, known = names["__spec__"], _codes(names["__spec__"].origin)
    if type(spec.loader) is SourceFileLoader:
        return code in known
    # pytest has written the assertions anew, and leaves where a function stands and what it is called
    return (code.co_filename, _place(code)) in {(spec.origin, _place(one)) for one in known}


def _place(code: types.CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_name, code.co_firstlineno, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@functools.cache
def _codes(file: str) -> frozenset[types.CodeType]:
    """All code objects that the source in a file compiles to."""
    found, left = set[types.CodeType](), [compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)]
    while left:
        code = left.pop()
        found.add(code)
        left += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return frozenset(found)


def _shadows_nothing(value: Foreign) -> bool:
    """Whether no attribute of an object stands for what its class does; fields and cached properties may."""
    fields = {one.name for one in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    own = {name: getattr(type(value), name, None) for name in getattr(value, "__dict__", {})}
    return all(
        name in fields
        or isinstance(one, functools.cached_property)
        or not (callable(one) or hasattr(one, "__get__"))
        for name, one in own.items()
    )


def _held(value: Foreign) -> list[Foreign]:
    """What an object refers to by its attributes."""
    slots = [one for base in type(value).__mro__ for one in (vars(base).get("__slots__") or ())]
    kept = [getattr(value, name) for name in slots if name != "__dict__" and hasattr(value, name)]
    return [*getattr(value, "__dict__", {}).values(), *kept]


@functools.lru_cache(maxsize=1024)
def _of_file(origin: str | None) -> bool:
    return origin is not None and _ROOT in Path(origin).parents


def _of_package(names: dict[str, Foreign]) -> bool:
    """Whether these are the globals of a module that was loaded from this package's folder."""
    module = sys.modules.get(str(names.get("__name__")))
    if module is None or vars(module) is not names:
        return False
    return _of_file(getattr(module.__spec__, "origin", None))


def _class(kind: type, seen: set[int]) -> bool:
    """Whether a class and its bases are this package's own, with the functions and data that it gave them."""
    if id(kind) in seen:
        return True
    seen.add(id(kind))
    return all(base in _BASES or (is_own_class(base) and _members(base, seen)) for base in kind.__mro__)


def is_own_class(kind: type) -> bool:
    """Whether a class is what a module of this package has under its name."""
    module = sys.modules.get(kind.__module__)
    if module is None or not _of_package(vars(module)):
        return False
    found: Foreign = module
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if isinstance(found, types.ModuleType | type) else None
    return found is kind


def _members(kind: type, seen: set[int]) -> bool:
    return all(
        (name in _GENERATED and _is_generated(member)) or _member(member, seen)
        for name, member in vars(kind).items()
        if name not in _NOTES
    )


def _is_generated(member: Foreign) -> bool:
    """Whether a function has the globals of a module of ours, and no file, as a dataclass writes them."""
    function = isinstance(member, types.FunctionType)
    return function and member.__code__.co_filename == "<string>" and _of_package(member.__globals__)


def _member(member: Foreign, seen: set[int]) -> bool:
    if isinstance(member, property):
        return all(_member(part, seen) for part in (member.fget, member.fset, member.fdel) if part)
    if isinstance(member, functools.cached_property):
        return _member(member.func, seen)
    if isinstance(member, (staticmethod, classmethod)):
        return _member(member.__func__, seen)
    if isinstance(member, types.FunctionType):
        return any(member.__globals__ is names for names in _MAKERS) or _function(member, seen)
    return isinstance(member, _OF_PYTHON) or _ours(member, seen)
