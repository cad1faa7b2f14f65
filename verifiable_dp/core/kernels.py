"""How loops are compiled: by numba, kept on disk where it can be; without numba they run as Python.

Both give the same bits: loops take logarithms and the like from `math`, which numba and Python take from the
same C library.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np

from verifiable_dp.core import paths, watch
from verifiable_dp.core.validate import Function, Given

try:
    with paths.elsewhere():  # numba's settings may name a folder of code that is run
        from llvmlite import ir
        from numba import njit as _njit
        from numba import types
        from numba.core import caching, config
        from numba.extending import intrinsic

    config._config_fname = os.devnull  # it is read again whenever something is compiled
    COMPILED = True
except ImportError:  # the extra `fast` is not installed
    COMPILED = False

Compiled = Any  # type: ignore[explicit-any]  # numba gives its functions no types


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
    if not COMPILED:
        return _quiet(plain or function)
    try:
        return _njit(function, nogil=True, cache=True, **options)
    except RuntimeError:  # "cannot cache function"
        return _njit(function, nogil=True, **options)


def njit(function: Function[object] | None = None, **options: Given) -> Compiled:
    """As numba's; without numba the function itself."""
    if function is None:
        return functools.partial(njit, **options)
    return _njit(function, **options) if COMPILED else function


def _quiet(function: Function[object]) -> Compiled:
    """The function without warnings: words wrap round and divisions by 0 give what compiled code gives."""

    @functools.wraps(function)
    def call(*given: object) -> object:
        with np.errstate(all="ignore"):
            return function(*given)

    return call


if COMPILED:

    @intrinsic
    def multiply_high(typing_context, a, b):  # type: ignore[no-untyped-def]
        """High 64 bits of the 128-bit product."""
        signature = types.uint64(types.uint64, types.uint64)

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            wide = ir.IntType(128)
            left, right = (builder.zext(argument, wide) for argument in arguments)
            shifted = builder.lshr(builder.mul(left, right), ir.Constant(wide, 64))
            return builder.trunc(shifted, ir.IntType(64))

        return signature, generate

    def _zeros(name: str) -> Compiled:
        """An instruction that counts the zero bits at one end of a word above 0."""

        @intrinsic
        def count(typing_context, word):  # type: ignore[no-untyped-def]
            def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
                return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 1))

            return types.int64(types.uint64), generate

        return count

    leading_zeros, trailing_zeros = _zeros("ctlz"), _zeros("cttz")
else:
    _LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)

    def multiply_high(a, b):  # type: ignore[no-untyped-def]
        """High 64 bits of the 128-bit product, of words or of arrays of them."""
        a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
        first = a1 * b0 + (a0 * b0 >> _HALF)
        return a1 * b1 + (first >> _HALF) + (a0 * b1 + (first & _LOW) >> _HALF)

    def leading_zeros(word: np.uint64) -> int:
        """Zero bits above the highest one."""
        return 64 - int(word).bit_length()

    def trailing_zeros(word: np.uint64) -> int:
        """Zero bits below the lowest one."""
        return (int(word) & -int(word)).bit_length() - 1


def keep_nothing() -> None:
    """Compile for this process alone from now on: numba does not ask whether its folders can be written."""
    if COMPILED:
        caching.Cache.save_overload = lambda *arguments: None


def compile_anew(kept: Function[bool]) -> None:
    """From now on numba keeps, and finds again, only what is written in folders that are `kept`."""
    if COMPILED:

        def new(kind: type[Given], function: Given) -> Given:
            folder = Path(function.__code__.co_filename).parent
            return object.__new__(kind) if kept(folder) else caching.NullCache()

        caching.Cache.__new__ = staticmethod(new)


if watch.CAGED in os.environ:
    keep_nothing()
