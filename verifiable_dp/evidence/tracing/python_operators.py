"""Which of NumPy's functions Python's operators are, and what else Python asks of a number."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign

OF_NUMBERS: dict[str, Foreign] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
ARITHMETIC: dict[str, Foreign] = {
    **OF_NUMBERS,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
COMPARING: dict[str, Foreign] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_ASKED: Sequence[tuple[str, Foreign]] = (
    *(("float", float), ("int", int), ("index", operator.index), ("bool", bool)),
    *(("hash", hash), ("format", format), ("repr", repr)),
)


def answers(kind: type, settle: str, more: Sequence[tuple[str, Foreign]] = ()) -> None:
    """Have a class answer what Python asks of a number as the number does that `settle` gives."""

    def unary(of: Foreign) -> Foreign:
        return lambda self, *args: of(getattr(self, settle)(), *args)

    for name, of in (*_ASKED, *more):
        setattr(kind, f"__{name}__", unary(of))
