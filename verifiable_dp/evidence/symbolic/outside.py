"""What a run reads besides its data and its draws: the clock, files, the environment, the system.

Its paths then depend on more than we choose, so that no number of runs shows all of them. Calls are told by
the function that is called (see `calls.asked`), what a library opens by Python's audit hooks, the environment
by its own methods. What a module reads while it is imported is not seen: it is the same in all runs.
"""

from __future__ import annotations

import datetime
import functools
import inspect
import io
import os
import pathlib
import sys
import types
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.world import World

_SAID = "the code reads {}, so its behaviour may depend on more than its input and its random draws"
_CLOCK, _FILES, _ENVIRONMENT, _SYSTEM = "the clock", "files", "the environment", "the state of the system"
_MODULES = {
    "time": _CLOCK,
    **dict.fromkeys(("_io", "io", "genericpath", "glob", "mmap"), _FILES),
    **dict.fromkeys(("os", "posix", "nt", "platform", "getpass", "resource", "_socket", "socket"), _SYSTEM),
}
_ASKED = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)
_HARMLESS = frozenset(("sleep", "urandom", "getrandom", "fspath", "fsencode", "fsdecode", "strerror"))
_NOW = frozenset(("now", "utcnow", "today"))
_ZONED = frozenset(
    ("fromtimestamp", "timestamp", "astimezone")
)  # in the zone of the system, if none is named
_EVENTS = frozenset(
    (
        *("open", "os.listdir", "os.scandir", "os.system", "os.fork", "os.posix_spawn", "os.exec"),
        *("mmap.__new__", "subprocess.Popen", "socket.connect", "socket.gethostname", "sqlite3.connect"),
    )
)
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "")
_BETWEEN = tuple(  # what calls libraries for the traced code
    os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    for name in (
        *("array_functions.py", "array_protocol.py", "boxes.py", "calls.py", "elementwise.py"),
        *("libraries.py", "numpy_mirror.py", "subsets.py", "terms.py"),
    )
)


def read_by(function: Foreign) -> str:
    """What a function reads; empty if nothing that is known."""
    if not isinstance(function, _ASKED):
        return ""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, os._Environ):
        return _ENVIRONMENT
    if isinstance(owner, io.IOBase):
        return _FILES
    if isinstance(owner, type) and issubclass(owner, datetime.date) and name in _NOW:
        return _CLOCK
    if name in _ZONED and issubclass(owner if isinstance(owner, type) else type(owner), datetime.date):
        return _SYSTEM
    if isinstance(owner, pathlib.Path) and name in vars(pathlib.Path):
        return _FILES
    if function is np.datetime64 or (getattr(function, "__module__", ""), name) == ("uuid", "uuid1"):
        return _CLOCK
    if isinstance(owner, types.ModuleType | None) and _tells_of_settings(function):
        return _SYSTEM
    module = getattr(function, "__module__", None)
    if name in _HARMLESS or not isinstance(module, str):
        return ""
    if name == "getenv":
        return _ENVIRONMENT
    told = not isinstance(function, type) or _is_of_arguments(module, _APART)
    return _MODULES.get(module, "" if told else _SYSTEM)


# Of Python's own modules those whose functions give what follows from their arguments.
_OF_ARGUMENTS = frozenset(
    (
        *("abc", "array", "ast", "base64", "binascii", "bisect", "builtins", "cmath", "collections"),
        *(
            "contextlib",
            "contextvars",
            "copy",
            "copyreg",
            "dataclasses",
            "datetime",
            "decimal",
            "difflib",
            "enum",
        ),
        *("fractions", "functools", "hashlib", "heapq", "hmac", "inspect", "itertools", "json", "keyword"),
        *("math", "numbers", "operator", "random", "re", "secrets", "statistics", "string", "struct"),
        *("textwrap", "types", "typing", "unicodedata", "uuid", "weakref", "zlib"),
    )
)


# Those whose objects hold what they are given, or wait for each other.
_APART = frozenset(
    ("asyncio", "concurrent", "multiprocessing", "pathlib", "queue", "thread", "threading", "warnings")
)


def is_told(function: Foreign, result: Foreign) -> bool:
    """Whether what a library's function gave follows from what it was given, as far as is known.

    Of Python's own library that is known of some modules. Of other libraries it is assumed.
    """
    if result is None:
        return True
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or type(owner).__module__
    return _is_of_arguments(str(module)) or getattr(function, "__name__", "") in _HARMLESS


def _tells_of_settings(function: Foreign) -> bool:
    """Whether it is a function of an installed library that takes nothing: what it gives is a setting's."""
    top = str(getattr(function, "__module__", "")).partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if isinstance(function, type) or file is None or not paths.installed(file) or paths.of_python(file):
        return False
    return _takes_nothing(function)


@functools.cache
def _takes_nothing(function: Foreign) -> bool:
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _is_of_arguments(module: str, also: Collection[str] = ()) -> bool:
    top = module.partition(".")[0].lstrip("_")
    python = top in sys.stdlib_module_names or f"_{top}" in sys.stdlib_module_names
    return not python or top in _OF_ARGUMENTS or top in also


def stopped(world: World, what: str) -> Exception:
    """What ends the bound, for the traced code reads `what`."""
    return world.stop(_SAID.format(what))


class _Told:
    """The run that is watched; None outside of runs."""

    world: World | None = None
    hooked = False


def _by_code(world: World) -> bool:
    """Whether it is the traced code that asks, or a library for it: not an import, nor any of our own."""
    frame = sys._getframe(3)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in world.files:
            return True
        if file.startswith("<frozen importlib") or (file.startswith(_PACKAGE) and file not in _BETWEEN):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _tell(what: str) -> None:
    world = _Told.world
    if world is not None and _by_code(world):
        raise stopped(world, what)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:  # type: ignore[explicit-any]
    del arguments
    if event in _EVENTS and _Told.world is not None:
        _tell(_FILES if event in ("open", "os.listdir", "os.scandir", "mmap.__new__") else _SYSTEM)


class _Environment(os._Environ):  # type: ignore[type-arg]
    """The environment, which tells that it is read."""

    def __getitem__(self, key: Foreign) -> Foreign:
        _tell(_ENVIRONMENT)
        return super().__getitem__(key)

    def __contains__(self, key: Foreign) -> bool:
        _tell(_ENVIRONMENT)
        return key in {*super().__iter__()}

    def __iter__(self) -> Iterator[Foreign]:
        _tell(_ENVIRONMENT)
        return super().__iter__()

    def __len__(self) -> int:
        _tell(_ENVIRONMENT)
        return super().__len__()


@contextmanager
def reading(world: World) -> Iterator[None]:
    """While the traced code runs: what it reads ends the bound."""
    if not _Told.hooked:  # hooks stay: the first run that is traced adds it
        sys.addaudithook(_hook)
        _Told.hooked = True
    both: list[Foreign] = [os.environ, *([os.environb] if hasattr(os, "environb") else [])]
    kinds, before = [type(one) for one in both], _Told.world
    _Told.world = world
    for one in both:
        one.__class__ = _Environment
    try:
        yield
    finally:
        _Told.world = before
        for one, kind in zip(both, kinds, strict=True):
            one.__class__ = kind
