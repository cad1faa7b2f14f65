"""What statements of modules call while they are imported, as it happens: also what no text of theirs shows.

Properties, operators, decorators and classes call code that nobody names. With the statement of the module
that has led to it, we note each function of the code that runs during the import, calls of another's code,
what Python's own library asks the system on the way, files that are opened, an import that fails, and one
within a function.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import os
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import ClassVar, NamedTuple

import numpy as np

from verifiable_dp.core import looked, paths, pinned_source
from verifiable_dp.core.validate import Foreign

_TOP, _IMPORTS, _FROZEN = "<module>", "<frozen importlib", "<frozen "
_OS, _RANDOM = os._Environ.__getitem__.__code__.co_filename, random.__file__
_ENVIRONMENT, _OF_FUNCTION = "_Environ.", 0x01  # the flag of code whose names are its own
_SYSTEM = frozenset(("posix", "nt", "time", "_socket", "_winapi"))
_FILES = frozenset(
    (
        *("open", "read", "close", "fstat", "lseek", "fspath", "fsencode", "fsdecode"),
        *("urandom", "getrandom", "_path_normpath"),
    )
)
_DRAWS = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
_PYTHON = (FunctionType, classmethod, staticmethod)  # what is not in Python is none of these
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
        The function of Python's library that has called it for the code, if it asks the system.
    takes
        Whether it takes any argument.
    code, at
        Of the innermost function of the code, and its instruction: those in which it was called first.
    """

    module: str
    name: str
    thing: Foreign = None
    owner: type | None = None
    deep: str = ""
    takes: bool = True
    code: CodeType | None = None
    at: int = 0

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column at which the call ends in its file; None if Python keeps no positions."""
        if self.code is None:
            return None
        _, line, _, column = next(itertools.islice(self.code.co_positions(), self.at // 2, None))
        return None if line is None or column is None else (line, column)


FAILED = Called("", "an import that fails")  # or is in a function
OPENED = Called("", "a file that is opened")


class _Heard:
    """By file and line of the statement: what was called, and which functions of the code have run.

    Functions by their address, as equal code may lie in two files. Also which files were heard, and where in
    them calls end that have opened files.
    """

    called: ClassVar[dict[tuple[str, int], dict[Foreign, Called]]] = {}
    running: ClassVar[dict[tuple[str, int], dict[int, CodeType]]] = {}
    files: ClassVar[set[str]] = set()
    opened: ClassVar[dict[str, set[tuple[int, int] | None]]] = {}
    states: ClassVar[dict[FrameType, Foreign]] = {}
    opening: ClassVar[bool] = False
    hooked: ClassVar[bool] = False


def was_heard(file: str) -> bool:
    """Whether we heard what a file called while it was imported."""
    return file in _Heard.files


def calls_at(file: str, lines: Iterable[int]) -> list[Called]:
    """What statements on these lines of a file have called of other code, as the file was imported."""
    return [one for line in lines for one in _Heard.called.get((file, line), {}).values()]


def functions_run() -> list[CodeType]:
    """The functions of the code that ran as it was imported."""
    return [code for found in _Heard.running.values() for code in found.values()]


def opening_at(file: str) -> set[tuple[int, int] | None]:
    """Where calls of a file end that have opened files: line and column."""
    return _Heard.opened.get(file, set())


def functions_at(file: str, lines: Iterable[int]) -> list[CodeType]:
    """The functions of the code that ran as these statements did."""
    return [code for line in lines for code in _Heard.running.get((file, line), {}).values()]


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


def _place(frame: FrameType | None) -> tuple[str, int] | None:
    """The statement of a module of the code that has led here."""
    while frame is not None:
        if frame.f_code.co_name == _TOP and _is_theirs(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _note(frame: FrameType, key: Foreign, what: Called) -> None:
    key, what = (id(frame.f_code), frame.f_lasti, key), what._replace(code=frame.f_code, at=frame.f_lasti)
    if place := _place(frame):
        _Heard.called.setdefault(place, {})[key] = what


def _note_builtin(frame: FrameType, function: Foreign, deep: str = "") -> None:
    """Note a function that is not in Python; of a method, its name and the class."""
    of, name = getattr(function, "__self__", None), str(getattr(function, "__name__", ""))
    kind = of if isinstance(of, type) else type(of)
    home = next((one for one in kind.__mro__ if not isinstance(vars(one).get(name, _note), _PYTHON)), kind)
    if of is None or isinstance(of, ModuleType) or (of is home):
        _note(frame, (id(function), deep), Called("", name, function, deep=deep))
    else:  # of a class of the code, what is above it
        _note(frame, (home, name, deep), Called("", name, owner=home, deep=deep))


def _heard(frame: FrameType, event: str, argument: Foreign) -> None:
    if looked.stands(frame):
        if event == "c_call" and argument is looked.what(frame) and frame.f_back is not None:
            _heard(frame.f_back, event, argument)
        return
    code = frame.f_code
    file = code.co_filename
    if event == "call":
        own = _is_theirs(file)
        if own and code.co_name == _TOP:
            _Heard.files.add(file)
        elif own and (place := _place(frame.f_back)):
            _Heard.running.setdefault(place, {})[id(code)] = code
        if own or file.startswith(_IMPORTS) or file == __file__ or _is_written(file):
            return
        theirs, below = _by_code(frame.f_back)
        asks = file == _OS and code.co_qualname.startswith(_ENVIRONMENT)
        seeds = file == _RANDOM and code.co_qualname.startswith(
            "SystemRandom."
        )  # as of a generator without seed
        asks = seeds or (asks and below is not None and _is_pythons(below.f_code.co_filename))
        if theirs is None or (below is not None and not asks):
            return
        if below is None:
            _Heard.states[frame] = _state()
        takes = bool(code.co_argcount + code.co_kwonlyargcount or code.co_flags & _CODE_FLAGS)
        module, deep = str(frame.f_globals.get("__name__", "")), "" if below is None else below.f_code.co_name
        _note(theirs, code, Called(module, code.co_qualname, deep=deep, takes=takes))
    elif event == "return" and frame in _Heard.states:
        if _Heard.states.pop(frame) != _state() and frame.f_back is not None:
            _note_builtin(frame.f_back, np.random.random_sample)  # whoever has drawn
    elif event == "c_call":
        written = _by_code(frame) if _is_written(file) else (None, frame)
        if _is_theirs(file):
            _note_builtin(frame, argument)
        elif written[0] is not None and written[1] is None:
            _note_builtin(written[0], argument)
        elif isinstance(getattr(argument, "__self__", None), _DRAWS):
            theirs, _ = _by_code(frame)
            if theirs is not None:
                _note_builtin(theirs, argument)
        elif getattr(argument, "__module__", None) in _SYSTEM and argument.__name__ not in _FILES:
            theirs, below = _by_code(frame)
            if theirs is not None and below is not None and _is_pythons(below.f_code.co_filename):
                _note_builtin(theirs, argument, below.f_code.co_name)


def _state() -> Foreign:
    """Where the generators of the process are."""
    drawn: Foreign = np.random.get_state()  # noqa: NPY002
    return random.getstate(), drawn[1].tobytes(), drawn[2:]


def _opens(event: str, _: Foreign) -> None:
    """Note that a file is opened by what the code has called."""
    if event == "open" and _Heard.opening:
        theirs, _ = _by_code(sys._getframe(1))
        if theirs is not None:
            _note(theirs, OPENED, OPENED)
            end = OPENED._replace(code=theirs.f_code, at=theirs.f_lasti).position
            _Heard.opened.setdefault(theirs.f_code.co_filename, set()).add(end)


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
    if not _Heard.hooked:  # once: no hook can be taken away
        sys.addaudithook(_opens)
    _Heard.hooked = _Heard.opening = True
    before, real = sys.getprofile(), builtins.__import__
    builtins.__import__ = _importer(real)
    sys.setprofile(_heard)
    threading.setprofile(_heard)
    try:
        yield
    finally:
        _Heard.opening = False
        _Heard.states.clear()
        threading.setprofile(None)
        sys.setprofile(before)
        builtins.__import__ = real
