"""Whole numbers of which only the remainder by a modulus is kept, as in secret sharing.

What is shared and put together again is the number itself, if it lies between 0 and the modulus. Anything
else that is done with a share of raw data ends the bound: that its mask is used once is not followed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic.terms import Lazy, Term, World, number, subtract


def remainder(left: Any, right: Any) -> Any:
    """The remainder; of what has noise that of the public number."""
    left, right = number(left), number(right)
    right = right.settle() if type(right) is Term else right
    if type(left) is Term and left.noise:
        left = left.settle()
    if type(left) is not Term:
        return left % right
    if not left.whole or right != round(right) or not right > 0:
        raise left.world.stop("the remainder of raw rewards has no bound")
    low, high = (math.floor(end / right) for end in left.range())
    return subtract(left, low * int(right)) if low == high else Residue(left.world, left, int(right))


class Residue(Lazy):
    """A whole number that differs from `inner` by a multiple of `modulus`."""

    __array_priority__ = 4500.0
    nature = "residue"
    dtype = np.dtype(np.int64)

    def __init__(self, world: World, inner: Any, modulus: int) -> None:
        self.world, self.inner, self.modulus = world, inner, modulus

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """That of a number."""
        return np.int64

    def plain(self) -> Any:
        """Nothing: it is raw."""
        raise self.world.stop("a share of raw rewards is used alone")

    term = plain

    def _with(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if type(other) is Residue and other.modulus == self.modulus:
            other = other.inner
        other = number(other)
        public = not issubclass(type(other), Residue) and isinstance(other, int | np.integer)
        if not public and not (type(other) is Term and other.whole and not other.noise):
            return self.plain()
        return Residue(self.world, function(self.inner, other), self.modulus)

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mod__(self, other: Any) -> Any:
        return remainder(self.inner, other) if other == self.modulus else self.plain()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.plain()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        return self.world.arrays.on_arrays(self.world, ufunc, method, inputs, out, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.world.arrays.calling(self.world, function, args, kwargs)


for _name in (
    *("mul", "rmul", "truediv", "rtruediv", "floordiv", "pow", "neg", "abs"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
    *("bool", "int", "float", "index", "hash", "repr", "format"),
):
    setattr(Residue, f"__{_name}__", lambda self, *args: self.plain())
