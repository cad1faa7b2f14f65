"""What a program keeps between runs: whether runs change it, and how it is put back after traced ones.

A module may keep a list, a cache or a counter. What a traced run leaves there means nothing to a plain one,
and what runs change there makes a later run another one: a bound of one run does not speak of it.
"""

from __future__ import annotations

import contextvars
import copyreg
import decimal
import dis
import gc
import hashlib
import io
import itertools
import random
import re
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import tzinfo

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.doors import is_own_class
from verifiable_dp.evidence.tracing.reach import Scopes

_MOST, _LARGEST = 100_000, 1_000_000  # objects that are looked into, and entries of an array
_DEEPEST, _NEAREST = 4, 5000  # objects of libraries that hold one another, and how many are looked into
_CUT = ""  # in the place of a name: there are more
_CONTAINERS = ("builtins", "collections", "types")  # modules of those whose entries are as near as they are


_SIMPLE = (types.NoneType, bool, int, float, complex, str, bytes, np.generic)
_NUMBERS = frozenset(np.sctypeDict.values())  # a subclass may hold more
_PYTHONS = ("__warningregistry__", "__loader__", "__spec__")  # what Python keeps in a module for itself
# How far generators have gone is told by their seeds; only their attributes count.
_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_PYTHONS_OWN = ("builtins", "collections", "functools")  # an entry of a cache is what the cache refers to
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_READ = (*sys.stdlib_module_names, "builtins", "numpy", "pandas", "scipy")  # whose buffers hold numbers
_LEAVES = (type, types.FunctionType, range, type(...), np.dtype, np.ufunc, re.Pattern, tzinfo, *_SIMPLE)
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # flags of types: of those of Python, and of others
_TRACKED = "verifiable_dp.evidence"  # numbers that stand for others


class KeptState:
    """What modules, their classes, functions and objects hold now, to be compared with what they hold later.

    Everything that can be reached from the user's modules is looked into, whatever its type; of libraries
    their objects, `_DEEPEST` deep, and not their modules, classes and functions.
    """

    def __init__(self, scopes: Mapping[str, dict[str, Foreign]]) -> None:
        self._own = _names_of(scopes)
        walked = [*itertools.islice(_walked(scopes, self._own), _MOST + 1)]
        self._rows = [(way, value, found) for way, value, found, _ in walked]
        sealed = (
            w for w, v, found, near in walked if (near and _is_sealed(v, found)) or _is_handle(v, found)
        )
        self._sealed = next(sealed, "")
        self._python = _of_python()

    def changed(self) -> str:
        """What is not what it was, by the names that lead there; empty if all is."""
        if len(self._rows) > _MOST:
            return f"we cannot tell whether one of the more than {_MOST} objects that the code keeps"
        if _of_python() != self._python:
            return f"a setting of Python ({_SETTINGS})"
        if (way := next((way for way, _ in self._changes()), "")) or not (self._sealed or self._is_cut):
            return way
        many = f"one of the more than {_NEAREST} library objects that the code keeps"
        return f"we cannot tell whether {self._sealed or many}"

    @property
    def _is_cut(self) -> bool:
        return bool(self._rows) and self._rows[-1][0] == _CUT

    def left(self) -> dict[str, object]:
        """What is not what it was, in values that are equal if two runs have left the same.

        What a traced run has made of data or noise is equal to nothing.
        """
        return {way: _Pictured(self._own).of(value) for way, value in self._changes()}

    def forget(self) -> None:
        """Empty the caches of functions, which hold what was computed for arguments and nothing else."""
        for _, value, _ in self._rows:
            if callable(getattr(value, "cache_clear", None)) and value.__module__ in self._own:
                value.cache_clear()

    def _changes(self) -> Iterator[tuple[str, Foreign]]:
        return _changes(self._rows, self._own)


def _changes(rows: Iterable[Foreign], own: set[Foreign]) -> Iterator[tuple[str, Foreign]]:
    for way, value, before in rows:
        now = _content(value, own)
        for name in [*now, *(name for name in before if name not in now)]:
            if name not in now or name not in before or not _same(now[name], before[name]):
                yield f"{way}.{name}" if isinstance(name, str) else way, now.get(name)


@contextmanager
def lending(scopes: Scopes, codes: Iterable[types.CodeType]) -> Iterator[list[str]]:
    """Note what is not what it was before some line of what runs inside, whatever it is at the end.

    Only what these codes, which run, name is looked at. What is too much, or in too many lines, is noted.
    """
    codes, own, narrow = [*codes], _names_of(scopes), Scopes()
    used = {"__name__", *(name for code in codes for name in code.co_names)}
    ran = {(code.co_filename, code.co_qualname) for code in codes}
    for file, scope in scopes.items():
        narrow[file] = {name: value for name, value in scope.items() if name in used}
    narrow.functions = [
        one for one in scopes.functions if (one.__code__.co_filename, one.__code__.co_qualname) in ran
    ]
    every = (row[:3] for row in itertools.islice(_walked(narrow, own), _MOST))
    copies = [*map(id, narrow.values())]
    rows = [row for row in every if _is_watched(row[1], own) and id(row[1]) not in copies]
    if any(_STORES in code.co_code[::2] for code in codes):
        rows += [(str(scope.get("__name__")), scope, _content(scope, own)) for scope in scopes.values()]
    arrays = (value.nbytes // 64 for _, value, _ in rows if isinstance(value, np.ndarray))
    weight, left, found = sum(arrays) + sum(1 + len(held) for _, _, held in rows), _LOOKS, list[str]()

    def stepped(frame: Foreign, event: str, argument: Foreign) -> Foreign:
        nonlocal left
        if found or frame.f_code.co_filename not in scopes:
            return None
        left -= weight
        found.extend([rows[0][0]] if left < 0 else [way for way, _ in _changes(rows, own)][:1])
        return stepped

    outer = sys.gettrace()
    sys.settrace(stepped if rows else outer)
    try:
        yield found
    finally:
        sys.settrace(outer)


def _is_watched(value: Foreign, own: set[Foreign]) -> bool:
    """Whether lines may change it and change it back."""
    plain = isinstance(value, dict | list | set | deque | np.ndarray | type)
    return plain or type(value).__module__ in own


_STORES, _LOOKS = dis.opmap["STORE_GLOBAL"], 400_000  # entries that are looked at before lines of a run


class _Pictured:
    """Values that show what objects hold, to the end."""

    def __init__(self, own: set[Foreign]) -> None:
        self._own, self._held = own, dict[int, Foreign]()

    def of(self, value: Foreign) -> object:
        """Equal for two objects only if they hold the same."""
        kind = type(value)
        if kind.__module__.startswith(_TRACKED) or len(self._held) > _MOST:
            return object()
        if kind in _SIMPLE or kind in _NUMBERS:
            return kind, repr(value)
        if id(value) in self._held:
            return "again", [*self._held].index(id(value))
        self._held[id(value)] = value
        if kind is np.ndarray and value.dtype != object:
            return value.dtype.str, value.shape, value.tobytes()
        inside = [(name, self.of(one)) for name, one in _content(value, self._own).items()]
        if isinstance(value, types.FunctionType):
            return value.__code__, inside
        seen = inside or kind.__module__ in (*_PYTHONS_OWN, *self._own)
        return kind if seen and not (isinstance(value, type) or _is_closed(value)) else id(value), inside


def _of_python() -> tuple[object, ...]:
    """Settings that code can change for whatever runs later."""
    numpys = str(np.geterr()), repr(np.get_printoptions())
    return repr(decimal.getcontext()), sys.getrecursionlimit(), numpys, [*sys.path]


_SETTINGS = "decimal context, recursion limit, sys.path, or numpy's errors or print options"


def _names_of(scopes: Mapping[str, dict[str, Foreign]]) -> set[Foreign]:
    return {scope.get("__name__") for scope in scopes.values()}


def _walked(
    scopes: Mapping[str, dict[str, Foreign]], own: set[Foreign]
) -> Iterator[tuple[str, Foreign, dict[Foreign, Foreign], bool]]:
    """Everything in which something may be kept, each once: the names that lead to it, it, and what it holds.

    Also whether code holds it, and not a library's object. What these hold comes last, and of it the nearest
    `_NEAREST` alone; then `_CUT`.
    """
    seen, left, used = dict[int, Foreign](), _NEAREST, _used(scopes)
    waiting = deque((one.__qualname__, one, 0, "") for one in getattr(scopes, "functions", ()))
    waiting += ((str(scope.get("__name__")), scope, 0, "") for scope in scopes.values())
    # What libraries' objects hold: first those that a name leads to which is used.
    later, last = deque[tuple[str, Foreign, int, str]](), deque[tuple[str, Foreign, int, str]]()
    while waiting or ((later or last) and left):
        way, value, depth, top = (waiting or later or last).popleft()
        if id(value) in seen or type(value) in _SIMPLE or type(value) in _NUMBERS:
            continue
        seen[id(value)] = value  # held, so that nothing else has its address
        content = _content(value, own)
        yield way, value, content, depth == 0
        left -= depth > 0
        home = value.__module__ if isinstance(value, type) else type(value).__module__
        depth += home not in (*_CONTAINERS, *own)
        if depth <= _DEEPEST:
            for name, one in content.items():
                first = top or (name if isinstance(name, str) else "")
                found = f"{way}.{name}" if isinstance(name, str) else way, one, depth, first
                (waiting if not depth else later if first in used else last).append(found)
    if later:
        yield _CUT, None, {}, False


def _used(scopes: Mapping[str, dict[str, Foreign]]) -> set[str]:
    """Names that the functions that run, and methods, read from outside of them; empty stands for any."""
    every = [value for scope in scopes.values() for value in scope.values()]
    held = [*(getattr(scopes, "functions", ()) or every)]
    held += [part for value in every if isinstance(value, type) for part in vars(value).values()]
    codes, found = [getattr(value, "__code__", None) for value in held], {""}
    while codes:
        if isinstance(code := codes.pop(), types.CodeType):
            found |= {*code.co_names}
            codes += code.co_consts
    return found


def _content(value: Foreign, own: set[Foreign]) -> dict[Foreign, Foreign]:
    """What a value holds itself, by name or place."""
    kind = type(value)
    if _is_closed(value) or is_own_class(kind):
        return {}
    if isinstance(value, type):
        hidden = ("__dict__", "__weakref__")
        return {k: v for k, v in vars(value).items() if k not in hidden} if value.__module__ in own else {}
    if isinstance(value, types.FunctionType):
        if value.__module__ not in own:
            return {}
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return dict(enumerate([*defaults, *(held(cell) for cell in value.__closure__ or ())])) | vars(value)
    found = dict(_named(value))
    with suppress(Exception):  # whatever an object makes of being asked
        # A key of a dictionary may have the name of an attribute.
        found |= {(name,) if found else name: one for name, one in _attributes(value).items()}
    if not isinstance(value, _GENERATORS):
        found |= enumerate(_entries(value))
    return found


def _is_sealed(value: Foreign, found: Mapping[Foreign, Foreign]) -> bool:
    """Whether it may hold what nothing tells: it is made in another language than Python."""
    if found or _is_closed(value) or isinstance(value, (*_GENERATORS, *_LEAVES)) or is_own_class(type(value)):
        return False
    solid = next(base for base in type(value).__mro__ if not _is_written_in_python(base))
    return solid is not object and solid not in (list, tuple, dict, set, frozenset, deque, np.ndarray)


def _is_handle(value: Foreign, found: Mapping[Foreign, Foreign]) -> bool:
    """Whether all that shows of it is a few bytes, and these may say where a library keeps the rest."""
    home = type(value).__module__.partition(".")[0]
    shown = all(type(one) is bytes for one in found.values())
    return shown and home not in _READ and not _is_closed(value) and not _is_written_in_python(type(value))


def _is_written_in_python(kind: type) -> bool:
    """Whether a `class` statement has made it."""
    return bool(kind.__flags__ & _HEAP_TYPE) and not kind.__flags__ & _IMMUTABLE_TYPE


def _is_closed(value: Foreign) -> bool:
    """Whether it is code, or a module that imports find: those of the user are looked into as scopes."""
    if isinstance(value, types.ModuleType):
        return sys.modules.get(value.__name__) is value
    if isinstance(value, types.BuiltinFunctionType):  # else it is a method of what holds something
        return isinstance(value.__self__, types.ModuleType | type | None)
    return isinstance(value, types.CodeType)


def _named(value: Foreign) -> dict[Foreign, Foreign]:
    """The values of a dictionary that have a name, by this name."""
    return {name: value[name] for name in _names(value)} if isinstance(value, dict) else {}


def _names(value: Foreign) -> list[str]:
    """Of a dictionary, in their order."""
    module = sys.modules.get(str(value.get("__name__")))
    left_out = _PYTHONS if getattr(module, "__dict__", None) is value else ()
    return [name for name in value if isinstance(name, str) and name not in left_out]


def _attributes(value: Foreign) -> dict[Foreign, Foreign]:
    """Those that an object has of its own."""
    named = getattr(value, "__dict__", None)
    slots = [n for kind in type(value).__mro__ for n in _listed(kind.__dict__.get(_SLOTS, ()))]
    found = {name: getattr(value, name, None) for name in slots if name not in ("__dict__", "__weakref__")}
    return {**found, **named} if type(named) is dict else found


def _listed(slots: Foreign) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _entries(value: Foreign) -> list[Foreign]:
    """What it holds beside its attributes, in an order that stays."""
    if isinstance(value, dict):
        others = [part for pair in value.items() if not isinstance(pair[0], str) for part in pair]
        return [tuple(_names(value)), *others]
    if isinstance(value, list | tuple | deque | set | frozenset):
        return [*value]
    if isinstance(value, np.ndarray):
        return [*value.flat] if value.dtype.hasobject else [value.dtype.str, value.shape, _digest(value)]
    if isinstance(value, contextvars.ContextVar):
        return [value.get(None)]
    if isinstance(value, weakref.ReferenceType):
        return [value()]
    if isinstance(value, types.GeneratorType | types.CoroutineType | types.AsyncGeneratorType):
        return _of_frame(value)
    if isinstance(value, io.IOBase):
        return [value.tell() if not value.closed and value.seekable() else value.closed, *_reduced(value)]
    if isinstance(value, _LOCKS):
        return [repr(value).split()[0]]  # whether it is locked
    with suppress(TypeError, BufferError):
        return [_digest(value)]
    return _reduced(value) + [one for one in gc.get_referents(value) if not isinstance(one, type)]


def _digest(value: Foreign) -> bytes:
    """Of what is in a buffer."""
    content = value.tobytes() if isinstance(value, np.ndarray) else memoryview(value).tobytes()
    return hashlib.blake2b(content).digest()


def _reduced(value: Foreign) -> list[Foreign]:
    """What an object that is not written in Python says it can be made of again, as far as it has gone."""
    solid = next(base for base in type(value).__mro__ if not _is_written_in_python(base))
    if solid is object:
        return []
    ways = (copyreg.dispatch_table.get(solid), vars(solid).get("__reduce__"), vars(solid).get("__getstate__"))
    with suppress(Exception):
        made = next(way for way in ways if way is not None)(value)
        return [*_flat([made] if isinstance(made, str) else made)]
    return []


def _flat(parts: Foreign) -> Iterator[Foreign]:
    for one in parts:
        if type(one) is dict:
            yield from _flat(one.items())
        elif type(one) in (list, tuple):
            yield len(one)
            yield from _flat(one)
        else:
            yield one


def _of_frame(value: Foreign) -> list[Foreign]:
    frame = getattr(value, "gi_frame", getattr(value, "cr_frame", getattr(value, "ag_frame", None)))
    return [] if frame is None else [frame.f_lasti, *frame.f_locals.values()]


_SLOTS = "__slots__"


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
    put_back = as_now(scopes)
    try:
        yield
    finally:
        put_back()


def as_now(scopes: Mapping[str, dict[str, Foreign]]) -> Callable[[], None]:
    """What makes modules, their classes, functions and objects hold what they hold now, in place."""
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

    def put_back() -> None:
        for step in (*undo, *caches):
            step()

    return put_back


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
    if isinstance(value, _LOCKS):
        return []
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
    if isinstance(value, _LOCKS) and _is_free(value):
        return lambda: _freed(value)
    return lambda: None


def _is_free(lock: Foreign) -> bool:
    return repr(lock).split()[0] == "<unlocked"


def _freed(lock: Foreign) -> None:
    """Release a lock that a run which ended early has left behind."""
    while not _is_free(lock):
        lock.release()


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
