"""What stands in for classes of numbers, and for those of pandas: they take tracked numbers as they are."""

from __future__ import annotations

import functools
import sys

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import (
    accept_reject,
    answers,
    boxes,
    elementary,
    elementwise,
    uniform_draws,
)
from verifiable_dp.evidence.symbolic.boxes import Box, has_own
from verifiable_dp.evidence.symbolic.terms import Term, number
from verifiable_dp.evidence.symbolic.world import World


class _Kind(type):
    stands_for: type

    def __instancecheck__(cls, value: Foreign) -> bool:
        return isinstance(value, cls.stands_for)

    def __subclasscheck__(cls, kind: Foreign) -> bool:
        return issubclass(kind, cls.stands_for)

    def __eq__(cls, other: Foreign) -> bool:
        return other is cls or other is cls.stands_for

    def __hash__(cls) -> int:
        return hash(cls.stands_for)


def _scalar(value: Foreign) -> Foreign:
    if type(value) is Box and value.size == 1:
        value = value.held.ravel()[0]
    return number(value)


class _Float(float, metaclass=_Kind):
    """A raw number stays one, and a uniform draw too."""

    stands_for = float

    def __new__(cls, value: Foreign = 0.0) -> Foreign:
        value = _scalar(value)
        if type(value) is Term:
            return elementary.cast(value, "f")
        return value if type(value) in (uniform_draws.UniformDraw, accept_reject.Veiled) else float(value)


class _Int(int, metaclass=_Kind):
    """A raw whole number stays one, and a position or a coin that nothing was seen of."""

    stands_for = int

    def __new__(cls, value: Foreign = 0, *args: Foreign) -> Foreign:
        value = _scalar(value)
        if type(value) is uniform_draws.UniformDraw:
            below = value if value.step else value.through(np.floor)
            value = below.term() if getattr(below, "step", 0.0) else value  # geometric noise
        if type(value) is Term:
            made = elementary.cast(value, "i")
            return made if type(made) is Term else int(made)
        if type(value) is uniform_draws.DrawnCoin and value.chance is not None and not value.source.is_public:
            return value
        if type(value) is answers.Position or (type(value) is accept_reject.Pick and not value.source.done):
            return value
        return int(value, *args)


class _Bool(int, metaclass=_Kind):
    """A raw bit stays one, and a coin a coin."""

    stands_for = bool

    def __new__(cls, value: Foreign = False) -> Foreign:
        value = _scalar(value)
        bit = type(value) is Term and not value.noise and value.whole and value.range() == (0.0, 1.0)
        open_ = (
            type(value) is uniform_draws.DrawnCoin and value.chance is not None and not value.source.is_public
        )
        return value if bit or open_ else bool(value)


NUMBERS: dict[str, type] = {"float": _Float, "int": _Int, "bool": _Bool}


def of_pandas(name: str, real: Foreign, world: World) -> Foreign:
    """Series and frames of tracked numbers hold these as objects."""
    if not isinstance(real, type) or name not in ("Series", "DataFrame"):
        return real
    return _Framed(name, (), {"stands_for": real, "made": _frames(sys.modules["pandas"])[name]})


class _Framed(_Kind):
    """Stands for a class of pandas."""

    made: Foreign

    def __call__(cls, *args: Foreign, **kwargs: Foreign) -> Foreign:
        return cls.made(*map(_unboxed, args), **{key: _unboxed(v) for key, v in kwargs.items()})

    def __getattr__(cls, name: str) -> Foreign:
        return getattr(cls.stands_for, name)


_UNBOXING = ("__setitem__", "_arith_method", "_cmp_method", "assign", "insert", "add", "where", "mask")


@functools.cache
def _frames(pandas: Foreign) -> dict[str, type]:
    """Series and frames that take arrays of tracked numbers as arrays of objects.

    The names with an underscore are those that pandas has its own and other libraries' subclasses define.
    """
    made: dict[str, Foreign] = {}

    def unboxing(name: str) -> Foreign:
        def call(self: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
            own = getattr(super(made[type(self).__name__], self), name)
            if name == "__setitem__" and self.ndim == 1 and self.dtype != object and has_own(args[-1]):
                self._update_inplace(self.astype(object))  # a column of numbers would take plain ones only
            return own(*map(_unboxed, args), **{key: _unboxed(v) for key, v in kwargs.items()})

        return call

    def one_of(kind: str) -> Foreign:
        return property(lambda self: made[kind])

    members = {name: unboxing(name) for name in _UNBOXING}
    members |= {"_constructor_sliced": one_of("Series"), "_constructor_expanddim": one_of("DataFrame")}
    for kind in ("Series", "DataFrame"):
        real = getattr(pandas, kind)
        own = {name: member for name, member in members.items() if hasattr(real, name)}
        made[kind] = type(kind, (real,), own | {"_constructor": one_of(kind)})
    return made


def _unboxed(value: Foreign) -> Foreign:
    """Arrays of tracked numbers as arrays of objects, also in lists and dictionaries."""
    if type(value) is Box:
        found = [elementwise.ordinary(v) for v in value.held.ravel().tolist()]
        return boxes.objects(found, value.shape) if has_own(found) else np.asarray(value)
    if type(value) is dict:
        return {key: _unboxed(v) for key, v in value.items()}
    return [_unboxed(v) for v in value] if type(value) is list else value
