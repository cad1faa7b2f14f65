"""What Python's operators make of terms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.doors import is_own_class
from verifiable_dp.evidence.symbolic.adding import add, opposite, subtract
from verifiable_dp.evidence.symbolic.comparing import above, equal, negated
from verifiable_dp.evidence.symbolic.elementary import absolute, power, rounded
from verifiable_dp.evidence.symbolic.multiplying import divide, multiply, remainder
from verifiable_dp.evidence.symbolic.terms import Term, nature

_DRAWS = ("uniform", "coin")
_PLAIN = (int, float, np.integer, np.floating, np.bool_)
_KNOWN = {int, float, bool, *np.sctypeDict.values()}  # Python asks a subclass first what an operation gives


def _operate(
    function: Callable[[Foreign, Foreign], Foreign], left: Foreign, right: Foreign, side: int | None = None
) -> Foreign:
    """What an operation makes of a term and a number; if it sets how much raw data count, on which side."""
    if side is not None and type(right) is not Term and isinstance(right, _PLAIN):
        weighed(left, side)
    lazy = nature(right)  # first, for they say that they are numbers
    if lazy:
        return function(left, right.term()) if lazy in ("uniform", "coin") else NotImplemented
    if isinstance(right, _PLAIN) and type(right) not in _KNOWN and not is_own_class(type(right)):
        raise left.world.stop("data or noise are combined with a number of one of the code's own classes")
    return function(left, right) if type(right) is Term or isinstance(right, _PLAIN) else NotImplemented


def weighed(term: Term, side: int) -> None:
    """Note that a public number, on this side of an operation, says how much raw data count."""
    told = term.world.oracle is not None  # raw numbers
    low, high = (0.0, 0.0) if told or term.noise else term.range()
    if low < high:
        term.world.scaled(side)


def _compared(function: Callable[[Foreign, Foreign], Foreign], left: Foreign, right: Foreign) -> Foreign:
    """A comparison; a uniform draw knows what it means to be compared."""
    return NotImplemented if nature(right) == "uniform" else _operate(function, left, right)


def _by_bits(ufunc: np.ufunc) -> Foreign:
    return lambda self, other: self.__array_ufunc__(ufunc, "__call__", self, other)


def _operator(function: Callable[[Foreign, Foreign], Foreign], side: int | None = None) -> Foreign:
    return lambda self, other: _operate(function, self, other, side)


def _turned(function: Callable[[Foreign, Foreign], Foreign]) -> Callable[[Foreign, Foreign], Foreign]:
    """The same of the two numbers in the other order."""
    return lambda left, right: function(right, left)


def _comparison(function: Callable[[Foreign, Foreign], Foreign]) -> Foreign:
    return lambda self, other: _compared(function, self, other)


def _added(self: Term, other: Foreign) -> Foreign:
    if self.type == "truth" and (type(other) is np.bool_ or getattr(other, "type", "") == "truth"):
        raise self.world.stop("truth values are added, which gives a truth value instead of a count")
    return _operate(add, self, other)


def _added_to(self: Term, other: Foreign) -> Foreign:
    return _added(self, other) if type(other) is np.bool_ else _operate(_turned(add), self, other)


def _times(function: Callable[[Foreign, Foreign], Foreign], side: int) -> Foreign:
    """A product; a draw knows what it means to be a sign of noise."""
    return lambda self, other: (
        other.__mul__(self) if nature(other) in _DRAWS else _operate(function, self, other, side)
    )


def _by_coin(name: str, otherwise: Foreign) -> Foreign:
    """An operator that a coin knows itself."""
    return lambda self, other: (
        getattr(other, name)(self) if nature(other) == "coin" else otherwise(self, other)
    )


def _rounded_to(self: Term, digits: int | None = None) -> Foreign:
    return (
        rounded(self, np.rint) if not digits else self.public("raw {data} are rounded to a number of digits")
    )


_XOR, _AND, _OR = (_by_bits(ufunc) for ufunc in (np.bitwise_xor, np.bitwise_and, np.bitwise_or))
_OPERATORS: dict[str, Foreign] = {
    "add": _added,
    "radd": _added_to,
    "sub": _operator(subtract),
    "rsub": _operator(_turned(subtract)),
    "mul": _times(multiply, 1),
    "rmul": _times(_turned(multiply), 0),
    "truediv": _operator(divide, 1),
    "rtruediv": _operator(_turned(divide), 0),
    "pow": lambda self, other, modulus=None: _operate(power, self, other, 1),
    "rpow": lambda self, other, modulus=None: _operate(_turned(power), self, other, 0),
    "floordiv": _operator(lambda a, b: rounded(divide(a, b), np.floor)),
    "divmod": lambda self, other: (self // other, self % other),
    "mod": _operator(remainder),
    **dict.fromkeys(("xor", "rxor"), _by_coin("__xor__", _XOR)),
    **dict.fromkeys(("and", "rand"), _AND),
    **dict.fromkeys(("or", "ror"), _OR),
    "neg": opposite,
    "pos": lambda self: self,
    "abs": absolute,
    "round": _rounded_to,
    "floor": lambda self: rounded(self, np.floor),
    "ceil": lambda self: rounded(self, np.ceil),
    "trunc": lambda self: rounded(self, np.trunc),
    "lt": _comparison(lambda a, b: above(b, a, strict=True)),
    "le": _comparison(lambda a, b: above(b, a, strict=False)),
    "gt": _comparison(lambda a, b: above(a, b, strict=True)),
    "ge": _comparison(lambda a, b: above(a, b, strict=False)),
    "eq": _by_coin("__eq__", _operator(equal)),
    "ne": _by_coin("__ne__", _operator(lambda a, b: negated(equal(a, b)))),
}
for _name, _of in _OPERATORS.items():
    setattr(Term, f"__{_name}__", _of)
