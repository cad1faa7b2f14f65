"""What statements of modules call while they are imported, as it happens: also what no text of theirs shows.

Properties, operators, decorators and classes call code that nobody names. Each call of another's code by the
code that is imported is noted, with the statement of the module that has led to it; so is what Python's own
library asks the system on the way, an import that fails, and one within a function.
"""

from __future__ import annotations

import builtins
import functools
import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import ClassVar, NamedTuple

import numpy as np

from verifiable_dp.core import looked, paths, pinned_source
from verifiable_dp.core.validate import Foreign

_TOP, _IMPORTS, _FROZEN = "<module>", "<frozen importlib", "<frozen "
_OS = os._Environ.__getitem__.__code__.co_filename
_ENVIRONMENT, _OF_FUNCTION = "_Environ.", 0x01  # the flag of code whose names are its own
_SYSTEM = frozenset(("posix", "nt", "time", "_socket", "_winapi"))
_FILES = frozenset(
    ("open", "read", "close", "fstat", "lseek", "fspath", "fsencode", "fsdecode", "urandom", "getrandom")
)
_DRAWS = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
_CODE_FLAGS = 0x04 | 0x08  # takes any arguments


class Called(NamedTuple):
    """Code of another that a statement has led to: a function in Python, or what is none.

    Attributes
    ----------
    module, name
        Of a function in Python.
    thing
        A function that is not in Python; None for one that is, and for a method.
    owner
        The class of what a method is of that is not in Python: the object itself is not kept.
    deep
        Whether it was called for the code by Python's library, and asks the system.
    takes
        Whether it takes any argument.
    """

    module: str
    name: str
    thing: Foreign = None
    owner: type | None = None
    deep: bool = False
    takes: bool = True


FAILED = Called("", "an import that fails")


class _Heard:
    """By file and line of the statement: what was called, and which functions of the code were running."""

    called: ClassVar[dict[tuple[str, int], dict[Foreign, Called]]] = {}
    running: ClassVar[dict[tuple[str, int], set[CodeType]]] = {}


def calls_at(file: str, first: int, last: int) -> list[Called]:
    """What statements on these lines of a file have called of other code, as the file was imported."""
    lines = (_Heard.called.get((file, line), {}) for line in range(first, last + 1))
    return [one for found in lines for one in found.values()]


def functions_at(file: str, first: int, last: int) -> set[CodeType]:
    """The functions of the code that ran as these statements did."""
    return {one for line in range(first, last + 1) for one in _Heard.running.get((file, line), ())}


@functools.cache
def _is_theirs(file: str) -> bool:
    return file[:1] != "<" and not pinned_source.installed(Path(file).parent)


def _is_written(file: str) -> bool:
    """Whether code was made by code, as that of `dataclass` is: it is of whoever calls it."""
    return file[:1] == "<" and not file.startswith(_FROZEN)


@functools.cache
def _is_pythons(file: str) -> bool:
    return paths.of_python(file)


def _by_code(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """The frame of the code that is imported which has led here, and that of the library it has called."""
    below = None
    while frame is not None:
        file = frame.f_code.co_filename
        if _is_theirs(file):
            return frame, below
        if file.startswith(_IMPORTS):
            break
        if not _is_written(file):
            below = frame
        frame = frame.f_back
    return None, None


def _note(frame: FrameType, key: Foreign, what: Called) -> None:
    running = set[CodeType]()
    at: FrameType | None = frame
    while at is not None:
        code = at.f_code
        if _is_theirs(code.co_filename):
            if code.co_name == _TOP:
                place = code.co_filename, at.f_lineno
                _Heard.called.setdefault(place, {})[key] = what
                _Heard.running.setdefault(place, set()).update(running)
                return
            running.add(code)
        at = at.f_back


def _note_builtin(frame: FrameType, function: Foreign, *, deep: bool = False) -> None:
    """Note a function that is not in Python; of a method, its name and the class."""
    of, name = getattr(function, "__self__", None), str(getattr(function, "__name__", ""))
    if of is None or isinstance(of, ModuleType | type):
        _note(frame, (id(function), deep), Called("", name, function, deep=deep))
    else:
        _note(frame, (type(of), name, deep), Called("", name, owner=type(of), deep=deep))


def _heard(frame: FrameType, event: str, argument: Foreign) -> None:
    if looked.stands(frame):
        if event == "c_call" and argument is looked.what(frame) and frame.f_back is not None:
            _heard(frame.f_back, event, argument)
        return
    code = frame.f_code
    file = code.co_filename
    if event == "call":
        if _is_theirs(file) or file.startswith(_IMPORTS) or file == __file__ or _is_written(file):
            return
        theirs, below = _by_code(frame.f_back)
        asks = file == _OS and code.co_qualname.startswith(_ENVIRONMENT)
        if theirs is None or (below is not None and not (asks and _is_pythons(below.f_code.co_filename))):
            return
        takes = bool(code.co_argcount + code.co_kwonlyargcount or code.co_flags & _CODE_FLAGS)
        module = str(frame.f_globals.get("__name__", ""))
        _note(theirs, code, Called(module, code.co_qualname, deep=below is not None, takes=takes))
    elif event == "c_call":
        if _is_theirs(file):
            _note_builtin(frame, argument)
        elif isinstance(getattr(argument, "__self__", None), _DRAWS):
            theirs, _ = _by_code(frame)
            if theirs is not None:
                _note_builtin(theirs, argument)
        elif getattr(argument, "__module__", None) in _SYSTEM and argument.__name__ not in _FILES:
            theirs, below = _by_code(frame)
            if theirs is not None and below is not None and _is_pythons(below.f_code.co_filename):
                _note_builtin(theirs, argument, deep=True)


def _importer(real: Foreign) -> Foreign:
    """`__import__`, which notes what fails, or is within a function; what a library does then is its own."""

    def importing(*given: Foreign, **more: Foreign) -> Foreign:
        name, level = str(given[0] if given else more["name"]), given[4:] or (more.get("level", 0),)
        frame = sys._getframe(1)
        if not _is_theirs(frame.f_code.co_filename):
            return real(*given, **more)
        if frame.f_code.co_flags & _OF_FUNCTION:
            _note(frame, FAILED, FAILED)
        before = sys.getprofile()
        if level == (0,) and _is_librarys(name):
            sys.setprofile(None)
        try:
            return real(*given, **more)
        except ImportError:
            _note(frame, FAILED, FAILED)
            raise
        finally:
            sys.setprofile(before)  # also in a thread that nobody listens to any more

    return importing


def _is_librarys(name: str) -> bool:
    """Whether a module is, or would be, one that is installed."""
    top = name.partition(".")[0]
    spec = getattr(sys.modules.get(top), "__spec__", None)
    with suppress(ImportError, ValueError):
        spec = spec or PathFinder.find_spec(top)
    return spec is not None and not (spec.has_location and _is_theirs(str(spec.origin)))


@contextmanager
def asked() -> Iterator[None]:
    """Note what modules that are imported in this block ask for."""
    before, real = sys.getprofile(), builtins.__import__
    builtins.__import__ = _importer(real)
    sys.setprofile(_heard)
    threading.setprofile(_heard)
    try:
        yield
    finally:
        threading.setprofile(None)
        sys.setprofile(before)
        builtins.__import__ = real
