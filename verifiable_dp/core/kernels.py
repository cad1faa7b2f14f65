"""How loops are compiled: by numba, kept on disk where it can be; without numba they run as Python.

Both give the same bits: loops take logarithms and the like from `math`, which numba and Python take from the
same C library. Loading numba takes longer than most commands, which run no loop: it is loaded when a loop is
first called.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from verifiable_dp.core import paths, watch
from verifiable_dp.core.validate import Function, Given

Compiled = Any  # type: ignore[explicit-any]  # numba gives its functions no types
_LIMITS: list[Callable[[Compiled], None]] = []  # what to change of numba's caches once it is loaded


@functools.cache
def _numba() -> Compiled:
    """The library; None if the extra `fast` is not installed."""
    try:
        with paths.elsewhere():  # its settings may name a folder of code that is run
            import numba
            from numba.core import caching, config

            import verifiable_dp.core.instructions  # noqa: F401  known to numba before it compiles
    except ImportError:
        return None
    config._config_fname = os.devnull  # it is read again whenever something is compiled
    for limit in _LIMITS:
        limit(caching)
    return numba


def _limit(change: Callable[[Compiled], None]) -> None:
    """Change numba's caches: now if it is loaded, else as soon as it is, by whomever."""
    _LIMITS.append(change)
    if _numba.cache_info().currsize:
        if _numba() is not None:
            change(sys.modules["numba.core.caching"])
    elif "numba" in sys.modules:
        _numba()
    elif _FIRST not in sys.meta_path:
        sys.meta_path.insert(0, _FIRST)


class _Loaded(Loader):
    """Gives what is loaded already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__
        module.__spec__ = None  # by which importlib would load it again

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


_KEPT_NOTHING: list[bool] = []


class _First:
    """Loads numba as we do when code of a target imports it first: a folder must not set it up otherwise."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "numba":
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        return None if (numba := _numba()) is None else ModuleSpec(name, _Loaded(numba))


_FIRST = _First()


class _Kernel:
    """A function that is compiled when it is first called, by Python or by code that is being compiled."""

    def __init__(self, function: Function[object], made: Callable[[], Compiled]) -> None:
        functools.update_wrapper(self, function)
        self._made = made

    @functools.cached_property
    def _compiled(self) -> Compiled:
        return self._made()

    def __call__(self, *given: object) -> Compiled:
        return self._compiled(*given)

    def __getattr__(self, name: str) -> Compiled:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled, name)  # what numba asks of a function that is called


def kernel(function: Function[object], plain: Function[object] | None = None, **options: object) -> Compiled:
    """`function` compiled by numba when it is first called; it lets other threads run meanwhile.

    numba keeps what it compiles beside the source, in NUMBA_CACHE_DIR or in the home folder. Where none of
    them can be written it refuses to keep anything, with an error: then each process compiles for itself. A
    shared temporary folder would let anyone put code into it.

    Parameters
    ----------
    function
        A loop in numba's part of Python.
    plain
        What gives the same results in NumPy, for where there is no numba; the loop itself if None.
    options
        More of numba's.
    """

    def made() -> Compiled:
        if (numba := _numba()) is None:
            return _quiet(plain or function)
        try:
            return numba.njit(function, nogil=True, cache=not _KEPT_NOTHING, **options)
        except RuntimeError:  # "cannot cache function"
            return numba.njit(function, nogil=True, **options)

    return _Kernel(function, made)


def njit(function: Function[object] | None = None, **options: Given) -> Compiled:
    """As numba's; without numba the function itself."""
    if function is None:
        return functools.partial(njit, **options)

    def made() -> Compiled:
        return function if (numba := _numba()) is None else numba.njit(function, **options)

    return _Kernel(function, made)


def compiles(value: object) -> bool:
    """Whether a value is a function that numba compiles."""
    return isinstance(value, _Kernel) or (
        hasattr(value, "py_func") and type(value).__module__.startswith("numba")
    )


def _quiet(function: Function[object]) -> Compiled:
    """The function without warnings: words wrap round and divisions by 0 give what compiled code gives."""

    @functools.wraps(function)
    def call(*given: object) -> object:
        with np.errstate(all="ignore"):
            return function(*given)

    return call


def keep_nothing() -> None:
    """Compile for this process alone from now on: numba does not ask whether its folders can be written."""

    def change(caching: Compiled) -> None:
        caching.Cache.save_overload = lambda *arguments: None

    _KEPT_NOTHING.append(True)  # what we compile ourselves asks for no folder
    _limit(change)


def compile_anew(kept: Function[bool]) -> None:
    """From now on numba keeps, and finds again, only what is written in folders that are `kept`."""

    def change(caching: Compiled) -> None:
        def new(kind: type[Given], function: Given) -> Given:
            folder = Path(function.__code__.co_filename).parent
            return object.__new__(kind) if kept(folder) else caching.NullCache()

        caching.Cache.__new__ = staticmethod(new)

    _limit(change)


if watch.CAGED in os.environ:
    keep_nothing()


# ---------------------------------------------------------------- instructions of the processor


class _Instruction:
    """What compiled code has as one instruction, and Python as a function."""

    def __init__(self, plain: Function[object]) -> None:
        functools.update_wrapper(self, plain)

    def __call__(self, *given: object) -> Compiled:
        return self.__wrapped__(*given)  # type: ignore[attr-defined]

    @property
    def _numba_type_(self) -> Compiled:
        from verifiable_dp.core import instructions

        return instructions.type_of(self.__name__)  # type: ignore[attr-defined]


_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@_Instruction
def multiply_high(a, b):  # type: ignore[no-untyped-def]
    """High 64 bits of the 128-bit product, of words or of arrays of them."""
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    first = a1 * b0 + (a0 * b0 >> _HALF)
    return a1 * b1 + (first >> _HALF) + (a0 * b1 + (first & _LOW) >> _HALF)


@_Instruction
def leading_zeros(word: np.uint64) -> int:
    """Zero bits above the highest one."""
    return 64 - int(word).bit_length()


@_Instruction
def trailing_zeros(word: np.uint64) -> int:
    """Zero bits below the lowest one."""
    return (int(word) & -int(word)).bit_length() - 1
