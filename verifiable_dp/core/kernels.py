"""How loops are compiled: by numba, kept on disk where there is a place for them."""

from __future__ import annotations

import os
from typing import Any

from numba import njit
from numba.core import caching

from verifiable_dp.core import watch
from verifiable_dp.core.validate import Function

Compiled = Any  # type: ignore[explicit-any]  # numba gives its functions no types


def kernel(function: Function[object], **options: object) -> Compiled:
    """`function` compiled by numba when it is first called; it lets other threads run meanwhile.

    numba keeps what it compiles beside the source, in NUMBA_CACHE_DIR or in the home folder. Where none of
    them can be written it refuses to keep anything, with an error: then each process compiles for itself. A
    shared temporary folder would let anyone put code into it.

    Parameters
    ----------
    function
        A loop in numba's part of Python.
    options
        More of numba's.
    """
    try:
        return njit(function, nogil=True, cache=True, **options)
    except RuntimeError:  # "cannot cache function"
        return njit(function, nogil=True, **options)


def keep_nothing() -> None:
    """Compile for this process alone from now on: numba does not ask whether its folders can be written."""
    caching.Cache.save_overload = lambda *arguments: None


if watch.CAGED in os.environ:
    keep_nothing()
