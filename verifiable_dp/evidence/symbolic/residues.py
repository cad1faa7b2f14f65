"""Whole numbers of which only the remainder by a modulus is kept, as in secret sharing.

What is shared and put together again is the number itself, if it lies between 0 and the modulus, or within
half of it around 0 and what lies above half of it is taken to be below 0. Noise may have been added to the
shares: what hides the number hides its remainder. Anything else that is done with a share of raw data ends
the bound: that its mask is used once is not followed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic.terms import (
    Lazy,
    Term,
    World,
    above,
    add,
    multiply,
    nature,
    negated,
    number,
    subtract,
)


def remainder(left: Any, right: Any) -> Any:
    """The remainder; of what has noise, and is no whole number, that of the public number."""
    left, right = number(left), number(right)
    right = right.settle() if type(right) is Term else right
    shared = type(left) is Term and left.whole and right == round(right) and right > 0
    if type(left) is Term and left.noise:
        if shared:
            return Residue(left.world, left, int(right), (left, 0))
        left = left.settle()
    if type(left) is not Term:
        return left % right
    if not left.whole or right != round(right) or not right > 0:
        raise left.world.stop_raw("the remainder of raw {data} has no bound")
    low, high = (math.floor(end / right) for end in left.range())
    if low == high:
        return subtract(left, low * int(right))
    left = subtract(left, round(sum(left.range()) / 2 / right) * int(right))  # what is nearest to 0
    return Residue(left.world, left, int(right), (left, 0))


class Residue(Lazy):
    """A whole number that differs from `inner` by a multiple of `modulus`.

    `exact` gives a number and what is added to its remainder, if that is known.
    """

    __array_priority__ = 4500.0
    nature = "residue"

    def __init__(self, world: World, inner: Any, modulus: int, exact: tuple[Any, int] | None = None) -> None:
        self.world, self.inner, self.modulus, self.exact = world, inner, modulus, exact

    def plain(self) -> Any:
        """The number, if noise hides what it is the remainder of."""
        base, more = (number(self.exact[0]), self.exact[1]) if self.exact is not None else (None, 0)
        if type(base) is Term and base.noise:
            base = base.settle()
        if base is None or type(base) is Term:
            raise self.world.stop_raw("a share of raw {data} is used alone")
        return np.int64(int(base) % self.modulus + more)

    def term(self) -> Any:
        """The number, if it was asked whether it lies in the upper half: then that is taken off."""
        known = self.world.kept.get(("below", id(self.exact[0]))) if self.exact is not None else None
        if self.exact is None or known is None:
            return self.plain()
        base, more = self.exact
        return add(add(base, more), multiply(known[1], self.modulus))

    def _above(self, limit: Any) -> Any:
        """Whether it is above a limit that parts the remainders of numbers below 0 from the others."""
        base, more = self.exact if self.exact is not None else (None, 0)
        if type(base) is not Term or base.noise or not isinstance(limit, int | float | np.number):
            return self.plain() > limit
        (low, high), least = base.range(), limit - more
        if not (low < 0 <= high <= least < self.modulus + low):
            return self.plain() > limit
        key = "below", id(base)
        if key not in self.world.kept:
            self.world.kept[key] = base, above(0, base, strict=True)
        return self.world.kept[key][1]

    def __gt__(self, limit: Any) -> Any:
        return self._above(limit)

    def __ge__(self, limit: Any) -> Any:
        return self._above(limit - 1)

    def __lt__(self, limit: Any) -> Any:
        return negated(self._above(limit - 1))

    def __le__(self, limit: Any) -> Any:
        return negated(self._above(limit))

    def _with(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if type(other) is Residue and other.modulus == self.modulus:
            other = other.inner
        other = other.plain() if nature(other) == "pick" else number(other)
        public = type(other) is not Term and not nature(other) and isinstance(other, int | np.integer)
        if self.exact is not None and ("below", id(self.exact[0])) in self.world.kept and type(other) is Term:
            return function(self.term(), other)
        if not public and not (type(other) is Term and other.whole):
            return self.plain()
        exact = None
        if public and self.exact is not None and function in (operator.add, operator.sub):
            exact = self.exact[0], int(function(self.exact[1], other))
        return Residue(self.world, function(self.inner, other), self.modulus, exact)

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mod__(self, other: Any) -> Any:
        return remainder(self.inner, other) if other == self.modulus else self.plain()


def _define(name: str, turned: bool = False) -> None:
    function: Callable[..., Any] = getattr(operator, name)

    def operate(self: Residue, *others: Any) -> Any:
        return function(*others, self.plain()) if turned else function(self.plain(), *others)

    setattr(Residue, f"__{'r' * turned}{name}__", operate)


for _name in ("mul", "truediv", "floordiv", "pow", "neg", "abs", "eq", "ne"):
    _define(_name)
for _name in ("mul", "truediv", "floordiv", "pow"):
    _define(_name, turned=True)
