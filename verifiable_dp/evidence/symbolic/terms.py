"""Numbers that stand for any reward in bounds, and for noise that was not looked at yet.

A `Term` is a sum of a constant, of multiples of *atoms* (rewards, and what was computed from them) and of
multiples of *draws*. Every atom knows how far it moves when one unit of the data changes, so that a sum of
them does. Nothing that a term does not define can be done with it: the bound ends there, with the line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.atoms import Atom, Row, SymbolicDraw
from verifiable_dp.evidence.symbolic.ends import Ends
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.python_operators import answers

ROUNDS = 1e-9  # relative, more than floats round in any run


class ForNumPy:
    """What NumPy asks to compute with it."""

    __slots__ = ()
    world: Foreign

    def __array_ufunc__(
        self, ufunc: Foreign, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        return self.world.arrays.on_arrays(self.world, ufunc, method, inputs, out, kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        return self.world.arrays.calling(self.world, function, args, kwargs)


class Term(ForNumPy):
    """A number of the traced code; see the module. Its operators are in `term_operators`.

    Attributes
    ----------
    world
        The run it belongs to.
    const, raw, noise
        Of the sum.
    ratio
        Sums of exponentials that it is the quotient of, an `adding.Ratio`, or None.
    whole
        Whether it is a whole number.
    type
        ``truth`` of a truth value, ``either`` where data decide whether it is a float, ``narrow`` of a number
        of less than 64 bits; else "", see `whole`.
    loose
        1 if floats may have rounded it, 2 if numbers may have cancelled, too: plain code may find it on the
        other side of an edge. Else 0.
    """

    __slots__ = ("_shown", "const", "loose", "noise", "ratio", "raw", "type", "whole", "world")
    __array_priority__ = 2000.0

    def __init__(
        self,
        world: World,
        const: float,
        raw: Mapping[Atom, float],
        noise: Mapping[SymbolicDraw, float],
        whole: bool = False,
        ratio: Foreign = None,
    ) -> None:
        self.world, self.const, self.raw, self.noise = world, const, raw, noise
        self.whole, self.ratio, self.type, self.loose = whole, ratio, "", 0
        self._shown: float | None = None
        world.count()

    # ------------------------------------------------------------ what is known of it

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """That of a number: code that asks whether it has a float is told so."""
        return self.world.claims(np.int64 if self.whole else np.float64)

    def value(self) -> float:
        """In the run that is traced: not for the traced code."""
        if self._shown is not None:
            return self._shown
        found = self.const + math.fsum(w * a.value for a, w in self.raw.items())
        return found + math.fsum(w * d.value for d, w in self.noise.items())

    def range(self) -> tuple[float, float]:
        """Bounds of a term without noise, whatever the data are."""
        low = high = self.const
        for atom, weight in self.raw.items():
            if weight == 0:
                continue
            ends = weight * atom.low, weight * atom.high
            low, high = low + min(ends), high + max(ends)
        return low, high

    def edges(self) -> tuple[float, float]:
        """The bounds, as far beyond them as rounding may have taken it."""
        low, high = self.range()
        known = self.loose < 2 and self.const == 0
        slack = ROUNDS * max(abs(low), abs(high), 1.0) if self.loose else 0.0
        # To add up numbers of one sign, and to scale them, does not change it.
        return low if known and low == 0 else low - slack, high if known and high == 0 else high + slack

    @property
    def is_still(self) -> bool:
        """Whether it follows from data that nobody replaces: public, whatever it is."""
        # No unit at all: what moves by 0 here, having weight 0, may have another weight on another path.
        return not self.noise and not any(atom.moves for atom in self.raw)

    def now(self) -> Foreign:
        """The number that was shown, if it was; else itself."""
        return self if self._shown is None else self._number(self._shown)

    def _number(self, value: float) -> Foreign:
        return np.int64(round(value)) if self.whole and math.isfinite(value) else np.float64(value)

    def settle(self) -> Foreign:
        """A public number, if noise hides the data; the bound ends if there is none."""
        return self.public("raw {data} are used where only public numbers are allowed")

    def public(self, what: str, why: Ends = Ends.DATA) -> Foreign:
        """A public number, if noise hides the data or nobody replaces them; else the bound ends."""
        if self._shown is None:
            if not self.noise and not self.is_still:
                raise self.world.stop(what, why=why)
            self._shown = show(self) if self.noise else self.value()
        return self._number(self._shown)

    # ------------------------------------------------------------ questions that need public numbers

    def __bool__(self) -> bool:
        return bool(self.public("raw {data} decide a branch", Ends.BRANCH))

    def __float__(self) -> float:
        return float(self.public("raw {data} become a plain number, which we cannot trace further"))

    def __int__(self) -> int:
        return int(self.public("raw {data} become a plain number, which we cannot trace further"))

    def __index__(self) -> int:
        found: int = self.public("raw {data} are used as an index").__index__()
        return found

    def __hash__(self) -> int:
        return hash(self.public("raw {data} are used as a key"))

    def __format__(self, spec: str) -> str:
        return format(self.public("raw {data} are converted to text"), spec)

    def __repr__(self) -> str:
        return repr(self.public("raw {data} are converted to text"))

    __str__ = __repr__

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, memo: Foreign) -> Term:
        return self

    def __reduce_ex__(self, protocol: Foreign) -> Foreign:
        raise self.world.stop("numbers are written out")

    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    nbytes = 8

    @property
    def dtype(self) -> Foreign:
        """As a number's."""
        return np.dtype(np.int64 if self.whole else np.float64)

    @property
    def real(self) -> Foreign:
        """As a number's."""
        return self

    def item(self) -> Foreign:
        """As a number's."""
        return self.now()

    tolist = copy = sum = mean = max = min = item

    def astype(self, dtype: Foreign, **kwargs: Foreign) -> Foreign:
        """As a number's."""
        made = self.world.arrays.Box.of(self.world, self.world.arrays.objects([self], ())).astype(dtype)
        return made.data[()]

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_") or not hasattr(np.float64, name):
            raise AttributeError(name)
        return getattr(self.public(f"we cannot bound how much .{name} of raw {{data}} changes"), name)


def show(term: Term) -> float:
    """Tell the value of a term that has noise."""
    world = term.world
    if not all(draw.used for draw in term.noise):
        world.chooser.disturb(term)
    for draw in term.noise:
        draw.used = True
    world.sees(Row(world.place(), "=", term.raw, term.noise))
    return float(world.chooser.shown(term))


class Lazy(ForNumPy):
    """A random number that is public once it is used for anything but what it was drawn for.

    Attributes
    ----------
    nature, kind
        What it is, and the class that it says it has.
    """

    nature: ClassVar[str] = ""
    kind: Foreign = np.int64
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    dtype = property(lambda self: np.dtype(self.kind))

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """That of a number."""
        return self.world.claims(self.kind)

    def plain(self) -> Foreign:
        """The number itself: it is public from here on."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.plain(), name)


answers(Lazy, "plain")


def nature(value: Foreign) -> str:
    """What kind of lazy number it is: uniform, coin, pick or veiled; empty if it is none."""
    kind = type(value)
    return kind.nature if issubclass(kind, Lazy) else ""


def is_term(value: Foreign) -> bool:
    """Whether `value` is a number that was not shown."""
    return type(value) is Term and value._shown is None


def number(value: Foreign) -> Foreign:
    """A term, if it was not shown, else a plain number."""
    return value.now() if type(value) is Term else value
