"""What a program keeps between runs: whether runs change it, and how it is put back after traced ones.

A module may keep a list, a cache or a counter. What a traced run leaves there means nothing to a plain one,
and what runs change there makes a later run another one: a bound of one run does not speak of it.
"""

from __future__ import annotations

import io
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import numpy as np

from verifiable_dp.core.validate import Foreign

_MOST, _LARGEST = 10_000, 1_000_000  # containers that are looked into, and entries of an array


_SIMPLE = (types.NoneType, bool, int, float, complex, str, bytes, np.generic)
_PYTHONS = "__warningregistry__"  # what Python keeps in a module: which warnings it has shown


class Memory:
    """What modules, their classes, functions and objects hold now, to be compared with what they hold later.

    Generators of random numbers are left out: what they are is told by their seeds.
    """

    def __init__(self, scopes: Mapping[str, dict[str, Foreign]]) -> None:
        own = _names_of(scopes)
        self._rows = [(way, value, _content(value, own)) for way, value in _walked(scopes, own)]
        self._own = own

    def changed(self) -> str:
        """Where something is not what it was, by the names that lead there; empty if all is."""
        for way, value, before in self._rows:
            now = _content(value, self._own)
            if len(now) != len(before):
                return way
            for name, one in now.items():
                if name not in before or not _same(one, before[name]):
                    return f"{way}.{name}" if isinstance(name, str) else way
        return ""


def _names_of(scopes: Mapping[str, dict[str, Foreign]]) -> set[Foreign]:
    return {scope.get("__name__") for scope in scopes.values()}


def _walked(scopes: Mapping[str, dict[str, Foreign]], own: set[Foreign]) -> Iterator[tuple[str, Foreign]]:
    """Everything in which something may be kept, each once, with the names that lead to it."""
    seen = dict[int, Foreign]()
    waiting: list[tuple[str, Foreign]] = [(one.__qualname__, one) for one in getattr(scopes, "functions", ())]
    waiting += ((str(scope.get("__name__")), scope) for scope in scopes.values())
    while waiting and len(seen) < _MOST:
        way, value = waiting.pop()
        if id(value) in seen or isinstance(value, _SIMPLE):
            continue
        seen[id(value)] = value  # held, so that nothing else has its address
        yield way, value
        named = _content(value, own) if isinstance(value, dict | type) else {}
        waiting += ((f"{way}.{name}" if isinstance(name, str) else way, one) for name, one in named.items())
        waiting += ((way, part) for part in (_inside(value, own) or () if not named else ()))


def _content(value: Foreign, own: set[Foreign]) -> dict[Foreign, Foreign]:
    """What a value holds itself, by name or place; nothing of what cannot be looked into."""
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if not (isinstance(name, str) and name == _PYTHONS)}
    if isinstance(value, list | tuple | deque):
        return dict(enumerate(value))
    if isinstance(value, set | frozenset):
        return dict.fromkeys(value)
    if type(value) is np.ndarray:
        return {0: value.copy() if value.size <= _LARGEST else None}
    if isinstance(value, bytearray):
        return {0: bytes(value)}
    if isinstance(value, types.FunctionType):
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return dict(enumerate([*defaults, *(held(cell) for cell in value.__closure__ or ())]))
    if isinstance(value, types.GeneratorType):
        return {0: None if value.gi_frame is None else value.gi_frame.f_lasti, **_locals_of(value)}
    if isinstance(value, type):
        hidden = ("__dict__", "__weakref__")
        return {k: v for k, v in vars(value).items() if k not in hidden} if value.__module__ in own else {}
    with suppress(Exception):  # whatever an object makes of being asked
        if callable(getattr(value, "cache_info", None)):
            return {0: value.cache_info().currsize}
        if isinstance(value, io.IOBase):
            return {0: value.tell()}
        if type(value).__module__ in ("builtins", "itertools", "array"):
            return {0: repr(value.__reduce_ex__(2)[1:])}  # how far it has gone
    slots = [
        n for kind in type(value).__mro__ if kind.__module__ in own for n in kind.__dict__.get(_SLOTS, ())
    ]
    return {name: getattr(value, name, None) for name in slots}


_SLOTS = "__slots__"


def _locals_of(value: types.GeneratorType[Foreign, Foreign, Foreign]) -> dict[Foreign, Foreign]:
    return {} if value.gi_frame is None else dict(value.gi_frame.f_locals)


def _same(one: Foreign, other: Foreign) -> bool:
    """Whether two values are one, or are equal numbers, texts or arrays."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if type(one) is np.ndarray and one.dtype != object:
        return bool(
            one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        )
    if type(one) is np.ndarray:
        return one.shape == other.shape and all(map(_same, one.flat, other.flat))
    return isinstance(one, _SIMPLE) and bool(one == other or (one != one and other != other))


@contextmanager
def kept(scopes: Mapping[str, dict[str, Foreign]]) -> Iterator[None]:
    """Put back what modules, their classes, functions and objects hold, in place."""
    undo: list[Callable[[], None]] = []
    caches: list[Callable[[], None]] = []
    waiting: list[Foreign] = [*scopes.values(), *getattr(scopes, "functions", ())]
    seen: dict[int, Foreign] = {}
    own = {scope.get("__name__") for scope in scopes.values()}
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value  # held, so that nothing else has its address
        if callable(getattr(value, "cache_clear", None)) and value.__module__ in own:
            caches.append(value.cache_clear)
        inside = _inside(value, own)
        if inside is not None:
            waiting += inside
            undo.append(_undoing(value))
    try:
        yield
    finally:
        for step in (*undo, *caches):
            step()


def _inside(value: Foreign, own: set[Foreign]) -> list[Foreign] | None:
    """What may be kept inside a value; None if nothing can be."""
    kind = type(value)
    if issubclass(kind, dict):
        return [*value.values()]
    if issubclass(kind, list | set | deque) or kind is tuple:
        return [*value]
    if kind is np.ndarray:
        return [*value.ravel()] if value.dtype == object and value.size <= _LARGEST else []
    if isinstance(value, types.FunctionType):
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        cells = [held(cell) for cell in value.__closure__ or ()]
        return [*defaults, *cells, value.__dict__] if value.__module__ in own else None
    if isinstance(value, staticmethod | classmethod | property):
        return [getattr(value, "fget", None) or getattr(value, "__func__", None)]
    names = getattr(value, "__dict__", None) if kind.__module__ in own else None
    if isinstance(value, type):
        return [*vars(value).values()] if value.__module__ in own else None
    return [names] if type(names) is dict else None


def held(cell: types.CellType) -> Foreign:
    """What a name of a function around another one stands for; None before it has been set."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _undoing(value: Foreign) -> Callable[[], None]:
    """What puts back what a value holds now."""
    if isinstance(value, dict):
        return _of_dictionary(value, dict(value))
    if isinstance(value, list):
        before = list(value)
        return lambda: value.__setitem__(slice(None), before)
    if isinstance(value, set | deque):
        other = list(value)
        return lambda: _filled(value, other)
    if type(value) is np.ndarray and value.size <= _LARGEST and value.flags.writeable:
        array = value.copy()
        return lambda: value.__setitem__(..., array)
    if isinstance(value, type):
        names = dict(vars(value))
        return lambda: _of_class(value, names)
    if isinstance(value, types.FunctionType):
        cells = [(cell, held(cell)) for cell in value.__closure__ or ()]
        return lambda: _of_cells(cells)
    return lambda: None


def _of_cells(cells: list[tuple[types.CellType, Foreign]]) -> None:
    for cell, before in cells:
        if held(cell) is not before:
            cell.cell_contents = before


def _of_dictionary(value: dict[Foreign, Foreign], before: dict[Foreign, Foreign]) -> Callable[[], None]:
    def undo() -> None:
        if [*value] != [*before] or any(value[key] is not held for key, held in before.items()):
            for key in [key for key in value if key not in before]:
                del value[key]
            for key, held in before.items():
                value[key] = held

    return undo


def _filled(value: Foreign, before: list[Foreign]) -> None:
    value.clear()
    (value.update if isinstance(value, set) else value.extend)(before)


def _of_class(kind: type, before: dict[str, Foreign]) -> None:
    now = dict(vars(kind))
    for name in now.keys() - before.keys():
        delattr(kind, name)
    for name, value in before.items():
        if now.get(name) is not value and name not in ("__dict__", "__weakref__"):
            setattr(kind, name, value)
