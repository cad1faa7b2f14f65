"""What a program keeps between runs is put back after runs with numbers that stand for others.

A module may keep a list, a cache or a counter. What a traced run leaves there means nothing to a plain one.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from verifiable_dp.core.validate import Foreign

_MOST, _LARGEST = 10_000, 1_000_000  # containers that are looked into, and entries of an array


@contextmanager
def kept(scopes: Mapping[str, dict[str, Foreign]]) -> Iterator[None]:
    """Put back what modules, their classes, functions and objects hold, in place."""
    undo: list[Callable[[], None]] = []
    caches: list[Callable[[], None]] = []
    waiting: list[Foreign] = [*scopes.values()]
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
    return lambda: None


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
