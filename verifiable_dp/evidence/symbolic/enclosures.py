"""What a function of a uniform number is on whole stretches of its values, and not at some of them only.

A function of a draw is called with an array of `Enclosure`s in place of the draw: each holds an interval of
values and one of slopes, and each operation of NumPy's gives intervals that hold all that can come out, as
interval arithmetic and forward differentiation do (Moore, Kearfott & Cloud, Introduction to Interval
Analysis, 2009). Stretches on which the answer is open are halved, until what is open has next to no chance.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy import special

from verifiable_dp.core.validate import NUMBERS_OR_BITS, Foreign, Function

Curve = Callable[[Foreign], Foreign]  # a function of one number
_WIDE = 4.0 * 2.0**-52  # by which a result is widened, relative: rounding of one operation
_LEAST = 2.0**-53  # the least chance that a draw of a generator has
_OPEN = 1e-12  # what may stay open: no more than that of all draws
_NEAR = 0.005  # by how much a slope may differ from that of a law on a stretch, relative
_EDGE = 1e-9  # what jump may stay, in units of the scale
_ROUGH, _FAR = 1e-13, 1e-9  # what rounding may do, relative, but to draws that are as near to 0 or 1
_HALVINGS = 60
_MOST = 200_000  # stretches


def _stretches() -> Foreign:
    """Ends of stretches that are short beside their distance from 0, 1/2 and 1, where laws bend."""
    steps = np.geomspace(_LEAST, 0.25, 4000)
    return np.unique(np.concatenate([steps, 0.5 - steps, [0.5], 0.5 + steps, 1 - steps]))


class Unenclosed(Exception):
    """An operation of which no enclosure is known."""


class Enclosure(NDArrayOperatorsMixin):
    """Intervals of values and slopes, one for each stretch.

    Parameters
    ----------
    low, high : (m,)
        Of the values.
    least, most : (m,)
        Of the slopes; infinite where it jumps.
    """

    def __init__(self, low: Foreign, high: Foreign, least: Foreign, most: Foreign) -> None:
        self.low, self.high, self.least, self.most = low, high, least, most

    @classmethod
    def of(cls, value: Foreign) -> Enclosure:
        """A number."""
        if type(value) is Enclosure:
            return value
        if not isinstance(value, (*NUMBERS_OR_BITS, np.ndarray)) or np.ndim(value):
            raise Unenclosed
        return cls(np.float64(value), np.float64(value), np.float64(0), np.float64(0))

    @property
    def shape(self) -> tuple[int, ...]:
        """As of a number: the stretches are no entries."""
        return ()

    def __array_ufunc__(self, ufunc: Foreign, method: str, *inputs: Foreign, **kwargs: Foreign) -> Foreign:
        known = _OPERATIONS.get(ufunc)
        if known is None or method != "__call__" or any(v is not None for v in kwargs.values()):
            raise Unenclosed
        with np.errstate(all="ignore"):
            return known(*map(Enclosure.of, inputs))

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        if function is np.where and len(args) == 3:
            return _chosen(*map(Enclosure.of, args))
        if function is np.clip and not kwargs and len(args) == 3:
            return np.minimum(np.maximum(args[0], args[1]), args[2])
        raise Unenclosed

    def __bool__(self) -> bool:
        raise Unenclosed

    __float__ = __int__ = __index__ = __bool__

    @property
    def widened(self) -> Enclosure:
        """By what rounding may do."""
        by = [_WIDE * np.abs(part) for part in (self.low, self.high, self.least, self.most)]
        least, most = _known(self.least - by[2], -np.inf), _known(self.most + by[3], np.inf)
        return Enclosure(_off(self.low, -by[0]), _off(self.high, by[1]), least, most)


def _off(end: Foreign, by: Foreign) -> Foreign:
    return np.where(np.isinf(end), end, end + by)


def _known(end: Foreign, far: float) -> Foreign:
    return np.where(np.isnan(end), far, end)


def _hull(*ends: Foreign) -> tuple[Foreign, Foreign]:
    return functools.reduce(np.minimum, ends), functools.reduce(np.maximum, ends)


def _times(a: Foreign, b: Foreign, c: Foreign, d: Foreign) -> tuple[Foreign, Foreign]:
    """The product of [a, b] and [c, d]; 0 times infinity is 0, for ends are only neared."""
    return _hull(*(np.where(_is_open(x, y) | _is_open(y, x), 0.0, x * y) for x in (a, b) for y in (c, d)))


def _is_open(x: Foreign, y: Foreign) -> Foreign:
    return (x == 0) & np.isinf(y)


def _add(x: Enclosure, y: Enclosure) -> Enclosure:
    return Enclosure(x.low + y.low, x.high + y.high, x.least + y.least, x.most + y.most).widened


def _negative(x: Enclosure) -> Enclosure:
    return Enclosure(-x.high, -x.low, -x.most, -x.least)


def _multiply(x: Enclosure, y: Enclosure) -> Enclosure:
    low, high = _times(x.low, x.high, y.low, y.high)
    one, other = _times(x.least, x.most, y.low, y.high), _times(y.least, y.most, x.low, x.high)
    return Enclosure(low, high, one[0] + other[0], one[1] + other[1]).widened


def _reciprocal(x: Enclosure) -> Enclosure:
    through = (x.low <= 0) & (x.high >= 0)
    low, high = np.where(through, -np.inf, 1 / x.high), np.where(through, np.inf, 1 / x.low)
    square = np.where(through, np.inf, _hull(low * low, high * high))
    return Enclosure(low, high, *_times(x.least, x.most, -square[1], -square[0])).widened


def _along(
    function: Curve, slope: Curve, low: float = -math.inf, bend: tuple[float, float] | None = None
) -> Callable[[Enclosure], Enclosure]:
    """An increasing function above `low`, with its slope.

    That is monotone, or falls up to a place and rises from there: `bend` is about where, with what it is at
    least.
    """

    def call(x: Enclosure) -> Enclosure:
        outside = x.low < low
        bottom, top = (np.where(outside, np.nan, function(end)) for end in (x.low, x.high))
        steep = _hull(slope(x.low), slope(x.high))
        if bend is not None:
            bends = (x.low <= bend[0] + 1e-6) & (x.high >= bend[0] - 1e-6)
            steep = np.where(bends, np.minimum(steep[0], bend[1]), steep[0]), steep[1]
        least, most = np.where(outside, 0.0, steep[0]), np.where(outside, np.inf, steep[1])
        return Enclosure(bottom, top, *_times(x.least, x.most, least, most)).widened

    return call


def _abs(x: Enclosure) -> Enclosure:
    through = (x.low < 0) & (x.high > 0)
    one, other = np.abs(x.low), np.abs(x.high)
    sign = np.where(x.low >= 0, 1.0, -1.0)
    least, most = _hull(sign * x.least, sign * x.most)
    steep = np.maximum(np.abs(x.least), np.abs(x.most))
    low, high = np.where(through, 0.0, np.minimum(one, other)), np.maximum(one, other)
    return Enclosure(low, high, np.where(through, -steep, least), np.where(through, steep, most))


def _copysign(x: Enclosure, y: Enclosure) -> Enclosure:
    # 0 has a sign, too.
    return _multiply(_abs(x), _jumping(np.where(y.low > 0, 1.0, -1.0), np.where(y.high < 0, -1.0, 1.0)))


def _maximum(x: Enclosure, y: Enclosure) -> Enclosure:
    least, most = _hull(x.least, y.least)[0], _hull(x.most, y.most)[1]
    first, second = x.low >= y.high, y.low >= x.high
    return Enclosure(
        np.maximum(x.low, y.low),
        np.maximum(x.high, y.high),
        np.where(first, x.least, np.where(second, y.least, least)),
        np.where(first, x.most, np.where(second, y.most, most)),
    )


def _jumping(low: Foreign, high: Foreign) -> Enclosure:
    """Values of which nothing is known where they jump."""
    jumps = low < high
    return Enclosure(low, high, np.where(jumps, -np.inf, 0.0), np.where(jumps, np.inf, 0.0))


def _monotone_steps(function: Curve) -> Callable[[Enclosure], Enclosure]:
    return lambda x: _jumping(np.float64(function(x.low)), np.float64(function(x.high)))


def _less(x: Enclosure, y: Enclosure) -> Enclosure:
    return _jumping(
        np.float64(x.high < y.low), np.float64(~(x.low > y.high))
    )  # what is undefined may be both


def _equal(x: Enclosure, y: Enclosure) -> Enclosure:
    same = (x.low == x.high) & (y.low == y.high) & (x.low == y.low)
    return _jumping(np.float64(same), np.float64(~((x.low > y.high) | (y.low > x.high))))


def _chosen(condition: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    first, second = condition.low >= 1, condition.high <= 0
    low, high = np.minimum(x.low, y.low), np.maximum(x.high, y.high)
    ends = [
        (x.low, y.low, low),
        (x.high, y.high, high),
        (x.least, y.least, -np.inf),
        (x.most, y.most, np.inf),
    ]
    return Enclosure(*(np.where(first, a, np.where(second, b, c)) for a, b, c in ends))


def _turning(function: Curve, slope: Curve, turn: float) -> Callable[[Enclosure], Enclosure]:
    """Sine or cosine: 1 at `turn`, -1 half a turn later; its slope is 1 a quarter before."""

    def ends(of: Curve, x: Enclosure, at: float) -> tuple[Foreign, Foreign]:
        low, high = _hull(of(x.low), of(x.high))
        up = np.floor((x.high - at) / (2 * np.pi)) > np.floor((x.low - at) / (2 * np.pi))
        down = np.floor((x.high - at - np.pi) / (2 * np.pi)) > np.floor((x.low - at - np.pi) / (2 * np.pi))
        return np.where(down, -1.0, low), np.where(up, 1.0, high)

    def call(x: Enclosure) -> Enclosure:
        steep = ends(slope, x, turn - np.pi / 2)
        return Enclosure(*ends(function, x, turn), *_times(x.least, x.most, *steep)).widened

    return call


def _tangent(x: Enclosure) -> Enclosure:
    poles = np.floor(x.high / np.pi - 0.5) > np.floor(x.low / np.pi - 0.5)
    turns = np.pi * np.round((x.low + x.high) / (2 * np.pi))  # between two poles it is flattest in the middle
    around = Enclosure(x.low - turns, x.high - turns, x.least, x.most)
    made = _along(np.tan, lambda v: 1 + np.tan(v) ** 2, -2.0, (0.0, 1.0))(around)
    ends = [(-np.inf, made.low), (np.inf, made.high), (-np.inf, made.least), (np.inf, made.most)]
    return Enclosure(*(np.where(poles, wide, known) for wide, known in ends))


def _power(x: Enclosure, y: Enclosure) -> Enclosure:
    exponent = float(y.low) if np.ndim(y.low) == 0 and y.low == y.high else math.nan
    if exponent == 2:
        size = _abs(x)
        return Enclosure(size.low**2, size.high**2, *_times(2 * x.low, 2 * x.high, x.least, x.most)).widened
    if exponent == 0.5:
        return _OPERATIONS[np.sqrt](x)
    if exponent == -1:
        return _reciprocal(x)
    raise Unenclosed


_OPERATIONS: dict[Foreign, Function[Enclosure]] = {
    np.add: _add,
    np.subtract: lambda x, y: _add(x, _negative(y)),
    np.negative: _negative,
    np.positive: lambda x: x,
    np.multiply: _multiply,
    np.divide: lambda x, y: _multiply(x, _reciprocal(y)),
    np.reciprocal: _reciprocal,
    np.power: _power,
    np.square: lambda x: _power(x, Enclosure.of(2.0)),
    np.absolute: _abs,
    np.copysign: _copysign,
    np.fabs: _abs,
    np.maximum: _maximum,
    np.minimum: lambda x, y: _negative(_maximum(_negative(x), _negative(y))),
    np.log: _along(np.log, lambda v: 1 / v, 0.0),
    np.log2: _along(np.log2, lambda v: 1 / (v * math.log(2)), 0.0),
    np.log10: _along(np.log10, lambda v: 1 / (v * math.log(10)), 0.0),
    np.log1p: _along(np.log1p, lambda v: 1 / (1 + v), -1.0),
    np.exp: _along(np.exp, np.exp),
    np.expm1: _along(np.expm1, np.exp),
    np.sqrt: _along(np.sqrt, lambda v: 0.5 / np.sqrt(v), 0.0),
    np.tan: _tangent,
    np.sin: _turning(np.sin, np.cos, np.pi / 2),
    np.cos: _turning(np.cos, lambda v: -np.sin(v), 0.0),
    np.arctanh: lambda x: 0.5 * (np.log1p(x) - np.log1p(-x)),
    special.logit: lambda x: np.log(x) - np.log1p(-x),
    np.sign: _monotone_steps(np.sign),
    np.floor: _monotone_steps(np.floor),
    np.ceil: _monotone_steps(np.ceil),
    np.rint: _monotone_steps(np.rint),
    np.trunc: _monotone_steps(np.trunc),
    np.less: _less,
    np.less_equal: _less,
    np.equal: _equal,
    np.not_equal: lambda x, y: 1.0 - _equal(x, y),
    np.greater: lambda x, y: _less(y, x),
    np.greater_equal: lambda x, y: _less(y, x),
    **dict.fromkeys((np.logical_and, np.bitwise_and), _multiply),
    **dict.fromkeys((np.logical_or, np.bitwise_or), lambda x, y: x + y - x * y),
    **dict.fromkeys((np.logical_not, np.invert), lambda x: 1.0 - x),
}


_ROOT = math.sqrt(2 * math.pi)
_quantile = _along(special.ndtri, lambda u: _ROOT * np.exp(special.ndtri(u) ** 2 / 2), 0.0, (0.5, _ROOT))


def _inverse_error(x: Enclosure) -> Enclosure:
    made: Enclosure = _quantile((x + 1.0) / 2.0) / math.sqrt(2.0)
    return made


@dataclass(frozen=True)
class Quantile:
    """The quantile function of a law of scipy's: ``ppf``, or ``isf`` for the one from `above`.

    Its density is taken to rise up to one place and to fall from there, as that of a law without shape does.
    """

    law: Foreign
    above: bool = False

    def __call__(self, u: Foreign) -> Foreign:
        """For a number, an array or an enclosure of chances."""
        if type(u) is not Enclosure:
            return self.law.isf(u) if self.above else self.law.ppf(u)
        slope = lambda q: 1 / self.law.pdf(self.law.ppf(q))  # noqa: E731
        return _along(self.law.ppf, slope, 0.0, _flattest(self.law))(1.0 - u if self.above else u)


@functools.cache
def _flattest(law: Foreign) -> tuple[float, float]:
    """Where the quantile function of a law rises least, and how much."""
    from scipy import optimize  # it takes long to load, and few bounds need it

    ends = law.ppf([1e-9, 1 - 1e-9])
    found = optimize.minimize_scalar(lambda x: -law.pdf(x), ends, bounds=ends, method="bounded")
    best = max(law.pdf(np.append(law.ppf(np.linspace(0.001, 0.999, 999)), found.x)))
    return float(law.cdf(found.x)), (1 - 1e-6) / float(best)


_OPERATIONS |= {special.ndtri: _quantile, special.erfinv: _inverse_error}
_ENDS = _stretches()


Fits = Callable[[Enclosure, Enclosure], tuple[Foreign, Foreign]]


def chance(function: Curve, fits: Fits, least: float = math.inf) -> tuple[float, float]:
    """The chance that something holds of a draw, and that of where this stays open.

    `fits` is given the stretches and what the function is on them, and says on which it holds and on which it
    certainly does not. Where it stays open the function must not jump by more than `least`.
    """
    low, high = _ENDS[:-1], _ENDS[1:]
    sure, open_ = 0.0, float(_ENDS[0] + 1 - _ENDS[-1])
    for _ in range(_HALVINGS):
        draw = Enclosure(low, high, np.ones(low.shape), np.ones(low.shape))
        try:
            found = Enclosure.of(function(draw))
        except (Unenclosed, TypeError, ValueError, AttributeError):
            return 0.0, 1.0
        with np.errstate(all="ignore"):
            yes, no = (np.broadcast_to(np.asarray(part, bool), low.shape) for part in fits(draw, found))
        sure += float((high - low)[yes].sum())
        jumps = ~(np.broadcast_to(found.high - found.low, low.shape)[~(yes | no)] <= least)
        low, high = low[~(yes | no)], high[~(yes | no)]
        jumps &= (low > _FAR) & (high < 1 - _FAR)
        left = float((high - low).sum())
        if (open_ + left <= _OPEN and not (jumps.any() and math.isfinite(least))) or 2 * low.size > _MOST:
            return sure, open_ + left
        middle = (low + high) / 2
        short = (middle <= low) | (middle >= high)  # no floats lie between
        if math.isfinite(least) and (short & jumps).any():
            return sure, 1.0
        open_ += float((high - low)[short].sum())
        low, middle, high = low[~short], middle[~short], high[~short]
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return sure, open_ + float((high - low).sum())


def structure(value: Foreign) -> Foreign:
    """What a function is made of, so that one that is made of the same is known; None if that is unknown."""
    if isinstance(value, NUMBERS_OR_BITS):
        return type(value), float(value)
    if isinstance(value, np.ufunc | Quantile) or isinstance(getattr(value, "__self__", None), ModuleType):
        return value  # such as one of `operator`
    code = getattr(value, "__code__", None)
    if code is None or hasattr(value, "__self__") or value.__kwdefaults__:
        return None
    parts = [structure(cell.cell_contents) for cell in value.__closure__ or ()]
    parts += map(structure, value.__defaults__ or ())
    return None if None in parts else (code, *parts)


_KNOWN: dict[Foreign, bool] = {}


def known(question: str, functions: Sequence[Curve], by: float, answer: Callable[[], bool]) -> bool:
    """The answer to a question about functions and a number; what is made of the same is asked once."""
    key = (question, by, *map(structure, functions))
    if None in key:
        return answer()
    if key not in _KNOWN:
        if len(_KNOWN) > 1 << 12:
            _KNOWN.clear()
        _KNOWN[key] = answer()
    return _KNOWN[key]


def is_like(function: Curve, law: Curve, scale: float) -> bool:
    """Whether a function rises and falls everywhere as `scale` times another one does."""
    return known("like", (function, law), scale, lambda: _is_like(function, law, scale))


def _is_like(function: Curve, law: Curve, scale: float) -> bool:
    def fits(draw: Enclosure, found: Enclosure) -> tuple[Foreign, Foreign]:
        one = Enclosure.of(law(draw)) * scale
        rises, falls = one.least > 0, one.most < 0
        small, large = np.where(rises, one.least, -one.most), np.where(rises, one.most, -one.least)
        least, most = np.where(rises, found.least, -found.most), np.where(rises, found.most, -found.least)
        near = (least >= (1 - _NEAR) * small) & (most <= (1 + _NEAR) * large)
        apart = (most < (1 - _NEAR) * small) | (least > (1 + _NEAR) * large)
        return near & (rises | falls), apart & (rises | falls)

    sure, open_ = chance(function, fits, _EDGE * abs(scale))
    return open_ <= _OPEN and sure >= 1 - 2 * _OPEN and _is_fine(function, scale)


def _is_fine(function: Curve, scale: float) -> bool:
    """Whether rounding moves a function by next to nothing, beside what it does to the draw itself."""
    at = (_ENDS[:-1] + _ENDS[1:]) / 2
    at = at[(at > _FAR) & (at < 1 - _FAR)]
    point = Enclosure.of(function(Enclosure(at, at, np.ones(at.shape), np.ones(at.shape))))
    with np.errstate(all="ignore"):
        size = (np.maximum(np.abs(point.low), np.abs(point.high)) + abs(scale)) / np.minimum(at, 1 - at)
        return bool((point.high - point.low <= _ROUGH * size).all())


def chance_of(function: Curve, value: float) -> float:
    """The chance of a value of a function of a draw; NaN if it is not known."""
    near = 1e-12 * abs(value)

    def fits(_: Enclosure, found: Enclosure) -> tuple[Foreign, Foreign]:
        return (found.low >= value - near) & (found.high <= value + near), (
            (found.high < value - near) | (found.low > value + near)
        )

    sure, open_ = chance(function, fits)
    return sure if open_ <= _OPEN else math.nan
