"""Laws of what samplers draw: sums of uniform, geometric and exponential draws, and mixtures of them.

What is made is whole, with the chances p_k, or has a density that is constant between breakpoints, or is
exponential noise, perhaps with a sign: the logarithm of a uniform number. To move a whole number or a stair
by h costs at most the largest log p(x) / p(x + g) over all x and all g between 0 and h, which is looked up
in the law. What has a chance below 2^-60 is left out: the draws of a generator are no finer.
"""

from __future__ import annotations

import ast
import bisect
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verifiable_dp.core.validate import Foreign, Function

_LEAST, _NOTHING = 2.0**-60, 1e-30
_MOST_VALUES, _MOST_PARTS = 1 << 12, 4
Env = dict[str, Foreign]
OPERATORS: dict[type, Callable[[Foreign, Foreign], Foreign]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
PLAIN = (int, float, bool, Fraction, str, type(None), np.number, np.bool_)


class UnreadError(Exception):
    """Something is not understood: there is no law."""


# ---------------------------------------------------------------- laws


@dataclass(frozen=True, eq=False)
class SamplerLaw:
    """The law of noise: chances of whole numbers, or a density between breakpoints.

    Attributes
    ----------
    ends
        Whole numbers, or left ends of pieces; a last one ends the last piece.
    heights
        Chances, or densities.
    whole
        Whether it is a law on whole numbers.
    """

    ends: tuple[float, ...]
    heights: tuple[float, ...]
    whole: bool

    @functools.cached_property
    def step(self) -> float:
        """What one step costs, of a law on whole numbers that is geometric; else 0."""
        some = [h for h in self.heights if h > _LEAST] if self.whole else []
        if len(some) < 2 or any(h > _LEAST for h in self.heights[len(some) :]):
            return 0.0
        steps = [math.log(a / b) for a, b in itertools.pairwise(some)]
        return steps[0] if steps[0] > 0 and max(steps) - min(steps) < 1e-9 * steps[0] else 0.0

    def price(self, shift: float) -> float:
        """At most what it costs to move by `shift`, or by less."""
        return self._prices(round(shift, 12))

    @functools.lru_cache(maxsize=256)  # noqa: B019
    def _prices(self, shift: float) -> float:
        if not math.isfinite(shift):
            return math.inf
        heights = self.heights if shift > 0 else self.heights[::-1]
        ends = self.ends if shift > 0 else tuple(-end for end in self.ends[::-1])
        count, most = len(heights), 0.0
        masses = [h * (1.0 if self.whole else ends[i + 1] - ends[i]) for i, h in enumerate(heights)]
        left, right = list(itertools.accumulate(masses)), list(itertools.accumulate(reversed(masses)))[::-1]
        for i, height in enumerate(heights):
            if min(left[i], right[i]) < _LEAST:
                continue  # all that lies further out has no chance
            reach = (ends[i] if self.whole else ends[i + 1]) + abs(shift)
            last = bisect.bisect_right(ends, reach - 1e-12 * max(1.0, abs(reach)) * (not self.whole)) - 1
            if last >= count or (self.whole and reach > ends[-1]):
                return math.inf
            if height > 0:
                least = min(heights[i : last + 1])
                most = max(most, math.log(height / least)) if least > 0 else math.inf
        return most


@dataclass(frozen=True)
class Usual:
    """A law that `Draw` knows by its kind, around a centre."""

    kind: str
    center: float
    scale: float


@dataclass(frozen=True)
class ReportSampler:
    """A number that is drawn with a density which a raw number sets.

    Attributes
    ----------
    cost
        The logarithm of the largest ratio of two such densities at one number.
    """

    cost: float


def law_of_leaves(leaves: list[tuple[Foreign, float]]) -> SamplerLaw | Usual | ReportSampler | None:
    """The law of a mixture of numbers and sums of draws; None if it has no form that is known."""
    parts = [(_sum_of(value), weight) for value, weight in leaves if weight > 0]
    if any(draw.raw or draw.part for one, _ in parts for draw in one.by):
        return _reported(parts)
    if any(draw.exponential for one, _ in parts for draw in one.by):
        return _usual(parts)
    uniforms = {sum(draw.step == 0 for draw in one.by) for one, _ in parts}
    if uniforms == {0}:
        return _whole_law(parts)
    return _stairs(parts) if uniforms == {1} else None


def _usual(parts: list[tuple[Sum, float]]) -> Usual | None:
    """Exponential noise, or with a fair sign Laplace's; None of any other mixture."""
    sides: dict[tuple[float, float], float] = {}
    for one, weight in parts:
        if len(one.by) != 1 or not next(iter(one.by)).exponential:
            return None
        (size,) = one.by.values()
        place = (round(one.const, 12), round(size, 12))
        sides[place] = sides.get(place, 0.0) + weight
    (center, size), *rest = sides
    if not rest:
        return Usual("exponential", center, size)
    twin = rest == [(center, -size)] and abs(sides[center, size] - 0.5) < 1e-12
    return Usual("laplace", center, abs(size)) if twin else None


def _spread(one: Sum, weight: float) -> Iterator[tuple[float, float]]:
    """Constants and weights, with all values of the geometric draws."""
    values: list[tuple[float, float]] = [(one.const, weight)]
    for draw, by in one.by.items():
        if draw.step:
            ratio = math.exp(-draw.step)
            count = 2 + int(math.log(_NOTHING) / -draw.step)
            if count * len(values) > 1 << 17:
                raise UnreadError
            values = [
                (const + by * (n + 1), w * (1 - ratio) * ratio**n)
                for const, w in values
                for n in range(count)
            ]
    yield from values


def _whole_law(parts: list[tuple[Sum, float]]) -> SamplerLaw | None:
    chances: dict[int, float] = {}
    for one, weight in parts:
        for value, w in _spread(one, weight):
            if value != round(value):
                return None
            chances[round(value)] = chances.get(round(value), 0.0) + w
    first, last = min(chances), max(chances)
    if last - first > 1 << 16:
        return None
    return SamplerLaw(
        tuple(range(first, last + 1)), tuple(chances.get(k, 0.0) for k in range(first, last + 1)), True
    )


def _stairs(parts: list[tuple[Sum, float]]) -> SamplerLaw | None:
    pieces = []
    for one, weight in parts:
        (wide,) = (by for draw, by in one.by.items() if not draw.step)
        for start, w in _spread(one, weight):
            pieces.append((min(start, start + wide), max(start, start + wide), w / abs(wide)))
    ends = sorted({end for piece in pieces for end in piece[:2]})
    # Ends that rounding has set apart are one.
    kept = [ends[0]] + [b for a, b in itertools.pairwise(ends) if b - a > 1e-9]
    heights = np.zeros(len(kept) - 1)
    for low, high, height in pieces:
        i, j = (bisect.bisect_left(kept, end - 2e-9) for end in (low, high))
        heights[i:j] += height
    return SamplerLaw(tuple(kept), tuple(heights.tolist()), False)


def _reported(parts: list[tuple[Sum, float]]) -> ReportSampler:
    """The cost of a number with a density of constant height between ends that follow a raw number.

    The lines on which these ends lie part the raw numbers and what is drawn into cells, in which the density
    is constant; between two heights at which lines meet, the same cells lie side by side.
    """
    pieces: list[tuple[Sum, Sum, float]] = []
    for one, weight in parts:
        draws = [draw for draw in one.by if not draw.raw]
        if len(draws) != 1 or draws[0].step or draws[0].exponential:
            raise UnreadError
        ends = [one.put(draws[0], end) for end in draws[0].part or (Sum(0.0, {}), Sum(1.0, {}))]
        left, right = ends if one.by[draws[0]] > 0 else ends[::-1]
        pieces.append((left, right, weight / abs(one.by[draws[0]])))
    low, high = next(draw.raw for one, _ in parts for draw in all_draws(one) if draw.raw)
    lines = [(end.at(0.0), end.at(1.0) - end.at(0.0)) for piece in pieces for end in piece[:2]]
    heights = {a + b * x for a, b in lines for x in (low, high)}
    for (a, b), (c, d) in itertools.combinations(lines, 2):
        if b != d and low <= (c - a) / (b - d) <= high:
            heights.add(a + b * (c - a) / (b - d))
    cost = 0.0
    for y in _middles(heights):
        crossed = {(y - a) / b for a, b in lines if b and low < (y - a) / b < high}
        found = [
            math.fsum(h for left, right, h in pieces if left.at(x) < y < right.at(x))
            for x in _middles({low, high} | crossed)
        ]
        if max(found) > 0:
            cost = max(cost, math.log(max(found) / min(found)) if min(found) > 0 else math.inf)
    return ReportSampler(cost)


def _middles(places: set[float]) -> list[float]:
    """Of the intervals between some places; what rounding has set apart is one place."""
    order = sorted(places)
    least = 1e-12 * max(abs(order[0]), abs(order[-1]))
    return [(a + b) / 2 for a, b in itertools.pairwise(order) if b - a > least]


def all_draws(one: Sum) -> Iterator[Basic]:
    """The draws of a sum, and those that set their ends."""
    for draw in one.by:
        yield draw
        yield from (own for end in draw.part or () for own in end.by)


# ---------------------------------------------------------------- sums of draws


@dataclass(frozen=True, eq=False)
class Basic:
    """A uniform draw, a geometric one whose chances fall by exp(-step) from 1 on, or an exponential one.

    Attributes
    ----------
    step, exponential
        Of geometric draws, and whether it is exponential.
    raw
        Between which the raw number lies that it stands for.
    part
        Between which the uniform draw lies: the raw number sets these ends. Its density stays 1.
    """

    step: float = 0.0
    exponential: bool = False
    raw: tuple[float, float] | None = None
    part: tuple[Sum, Sum] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Between which it lies."""
        if self.step or self.exponential or self.part:
            raise UnreadError
        return self.raw or (0.0, 1.0)

    @property
    def fresh(self) -> bool:
        """Whether it is a uniform draw of which nothing is known."""
        return not (self.step or self.exponential or self.raw or self.part)


@dataclass(frozen=True, eq=False)
class Sum:
    """A constant and multiples of basic draws."""

    const: float
    by: Mapping[Basic, float]

    def shifted(self, other: float) -> Sum:
        """It and a number."""
        return Sum(self.const + other, self.by)

    def times(self, by: float) -> Sum:
        """A multiple."""
        return Sum(self.const * by, {d: w * by for d, w in self.by.items() if w * by})

    def plus(self, other: Sum) -> Sum:
        """It and another one."""
        by = {d: self.by.get(d, 0.0) + other.by.get(d, 0.0) for d in {**self.by, **other.by}}
        return Sum(self.const + other.const, {d: w for d, w in by.items() if w})

    def put(self, draw: Basic, other: Sum) -> Sum:
        """It with a sum in place of a draw."""
        if draw not in self.by:
            return self
        rest = Sum(self.const, {d: w for d, w in self.by.items() if d is not draw})
        return rest.plus(other.times(self.by[draw]))

    @property
    def ends(self) -> tuple[float, float]:
        """Between which it lies, of uniform draws."""
        moves = [sorted((by * draw.ends[0], by * draw.ends[1])) for draw, by in self.by.items()]
        return self.const + sum(low for low, _ in moves), self.const + sum(high for _, high in moves)

    def at(self, raw: float) -> float:
        """Its value where the raw number has this one."""
        return self.const + sum(by * raw for draw, by in self.by.items() if draw.raw)


def _sum_of(value: Foreign) -> Sum:
    if isinstance(value, Sum):
        return value
    if not isinstance(value, int | float | Fraction | np.number | np.bool_):
        raise UnreadError
    return Sum(float(value), {})


def operated(kind: type, left: Foreign, right: Foreign) -> Foreign:
    """What an operator makes of numbers and sums."""
    left, right = (v.const if isinstance(v, Sum) and not v.by else v for v in (left, right))
    if not isinstance(left, Sum) and not isinstance(right, Sum):
        return OPERATORS[kind](left, right)
    if kind in (ast.Add, ast.Sub):
        one, other = _sum_of(left), _sum_of(right)
        return one.plus(other.times(-1.0 if kind is ast.Sub else 1.0))
    if kind is ast.Mult and not (isinstance(left, Sum) and isinstance(right, Sum)):
        one, by = (left, right) if isinstance(left, Sum) else (right, left)
        return one.times(float(by))
    if kind is ast.Div and isinstance(left, Sum) and not isinstance(right, Sum):
        return left.times(1 / float(right))
    raise UnreadError


# ---------------------------------------------------------------- what is done with draws


def computed(function: Function[Foreign], values: list[Foreign]) -> Foreign:
    """A function of plain numbers; a whole sum is its own whole number."""
    if len(values) == 1 and isinstance(values[0], Sum):
        (one,) = values
        whole = all(d.step and by == round(by) for d, by in one.by.items())
        if function is float or (function is int and whole and one.const == round(one.const)):
            return one
        if function in (abs, math.fabs):
            low, high = one.ends
            if low < 0 < high:
                raise UnreadError
            return one if low >= 0 else one.times(-1.0)
        return _whole_part(function, one)
    if function in (min, max) and len(values) == 2 and any(isinstance(v, Sum) for v in values):
        return _kept(function, *sorted(values, key=lambda v: not isinstance(v, Sum)))
    if any(not isinstance(v, PLAIN) for v in values):
        raise UnreadError
    return function(*values)


def _whole_part(function: Function[Foreign], one: Sum) -> Sum:
    """Of exponential noise it is geometric."""
    draw, by = next(iter(one.by.items()))
    if len(one.by) > 1 or not draw.exponential or one.const or by <= 0:
        raise UnreadError
    if function not in (int, math.floor, math.ceil):
        raise UnreadError
    return Sum(0.0 if function is math.ceil else -1.0, {Basic(1 / by): 1.0})


def _kept(function: Function[Foreign], one: Sum, limit: Foreign) -> Sum:
    """A uniform number kept from an end of its range, by no more than its last bits."""
    low, high = one.ends
    gap = float(limit) - low if function is max else high - float(limit)
    if gap > 2.0**-52 * (high - low):
        raise UnreadError
    return one


def clipped(value: Foreign, low: Foreign, high: Foreign) -> Foreign:
    """A number kept between two others."""
    return computed(min, [computed(max, [value, low]), high])


_GONE = " gone"  # uniform draws that a logarithm was taken of


def logarithm(values: list[Foreign], env: Env, name: str) -> tuple[Foreign, Env]:
    """Of a uniform number on [0, c] it is log(c) less an exponential one."""
    if len(values) != 1 or not isinstance(values[0], Sum):
        return computed(getattr(math, name), values), env
    one = values[0].shifted(1.0 if name == "log1p" else 0.0)
    low, high = one.ends
    if any(draw.raw for draw in one.by) or len(one.by) != 1 or high <= 0 or abs(low) > 1e-12 * high:
        raise UnreadError
    env = {**env, _GONE: frozenset((*env.get(_GONE, ()), *one.by))}
    return Sum(math.log(high), {Basic(exponential=True): -1.0}), env


def truth(value: Foreign) -> bool:
    """Whether a plain number counts as true."""
    if isinstance(value, Sum) or not isinstance(value, PLAIN):
        raise UnreadError
    return bool(value)


def put_in(value: Foreign, env: Env) -> Foreign:
    """A value after what was learnt of the draws in it."""
    for draw, other in env.get(LEARNT, ()):
        value = value.put(draw, other) if isinstance(value, Sum) else value
    return value


LEARNT = " learnt"


def compared(
    kind: type, values: list[Foreign], env: Env, weight: float
) -> Iterator[tuple[Foreign, Env, float]]:
    """A comparison; that of a uniform draw with a number is a coin, and the draw is uniform on its side."""
    left, right = values
    if not isinstance(left, Sum) and not isinstance(right, Sum):
        if not all(isinstance(v, PLAIN) for v in values):
            raise UnreadError
        yield bool(OPERATORS[kind](left, right)), env, weight
        return
    gap = _sum_of(left).plus(_sum_of(right).times(-1.0))
    ordered = kind in (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    draws = [(draw, by) for draw, by in gap.by.items() if not draw.raw]
    if len(draws) != 1:
        raise UnreadError
    ((draw, by),) = draws
    if draw.exponential or draw.part or draw in env.get(_GONE, ()):
        raise UnreadError
    if len(gap.by) > 1:
        yield from _parted(kind, draw, gap, env, weight)
        return
    if not (ordered or draw.step):  # what has a density is no given number
        yield kind is ast.NotEq, env, weight
        return
    if draw.step:
        yield from _valued(kind, draw, gap, env, weight)
        return
    limit = min(max(-gap.const / by, 0.0), 1.0)
    below = (kind in (ast.Lt, ast.LtE)) == (by > 0)
    for low, high, answer in ((0.0, limit, below), (limit, 1.0, not below)):
        if high > low:
            yield answer, _learnt(env, draw, Sum(low, {Basic(): high - low})), weight * (high - low)


def _parted(
    kind: type, draw: Basic, gap: Sum, env: Env, weight: float
) -> Iterator[tuple[Foreign, Env, float]]:
    """A comparison of a uniform draw with a raw number, which lies within the range of the draw."""
    by = gap.by[draw]
    limit = gap.put(draw, Sum(0.0, {})).times(-1 / by)
    low, high = limit.ends
    if not draw.fresh or kind not in (ast.Lt, ast.LtE, ast.Gt, ast.GtE) or low < -1e-12 or high > 1 + 1e-12:
        raise UnreadError
    before = [other for _, other in env.get(LEARNT, ()) if any(d.part for d in other.by)]
    if len(before) >= _MOST_PARTS:  # in a loop there is no end of them
        raise UnreadError
    below = (kind in (ast.Lt, ast.LtE)) == (by > 0)
    for part, answer in (((Sum(0.0, {}), limit), below), ((limit, Sum(1.0, {})), not below)):
        yield answer, _learnt(env, draw, Sum(0.0, {Basic(part=part): 1.0})), weight


def share(value: Foreign, raw: float) -> float:
    """The chance of the parts of draws in a value."""
    parts = [draw.part for draw in value.by if draw.part] if isinstance(value, Sum) else []
    return math.prod(high.at(raw) - low.at(raw) for low, high in parts)


def _learnt(env: Env, draw: Basic, other: Sum) -> Env:
    """What names hold after something was learnt of a draw."""
    after = {name: value.put(draw, other) if isinstance(value, Sum) else value for name, value in env.items()}
    after[LEARNT] = (*env.get(LEARNT, ()), (draw, other))
    return after


def _valued(
    kind: type, draw: Basic, gap: Sum, env: Env, weight: float
) -> Iterator[tuple[Foreign, Env, float]]:
    """A comparison of a geometric draw, value by value."""
    ratio = math.exp(-draw.step)
    for n in range(1, 2 + int(math.log(_NOTHING) / -draw.step)):
        answer = bool(OPERATORS[kind](gap.const + gap.by[draw] * n, 0))
        yield answer, _learnt(env, draw, Sum(float(n), {})), weight * (1 - ratio) * ratio ** (n - 1)


def below(values: list[Foreign], env: Env, weight: float) -> Iterator[tuple[Foreign, Env, float]]:
    """Whether one of the first whole numbers is below another number."""
    size, limit = (operator.index(value) for value in values)
    limit = min(max(limit, 0), size)
    for answer, share in ((True, limit / size), (False, (size - limit) / size)):
        if share:
            yield answer, env, weight * share


def drawn(name: str, values: list[Foreign], env: Env, weight: float) -> Iterator[tuple[Foreign, Env, float]]:
    """What a method of a generator draws."""
    if (name == "random" and not values) or (name == "uniform" and len(values) in (0, 2)):
        low, high = map(_sum_of, values or (0.0, 1.0))
        wide = high.plus(low.times(-1.0))
        if wide.by or wide.const <= 0 or not all(draw.raw for draw in low.by):
            raise UnreadError
        yield low.plus(Sum(0.0, {Basic(): wide.const})), env, weight
        return
    if any(isinstance(v, Sum) for v in values):
        raise UnreadError
    if name in ("exponential", "expovariate", "standard_exponential") and len(values) <= 1:
        scale = float(values[0]) if values else 1.0
        if not scale > 0 or (values and name == "standard_exponential"):
            raise UnreadError
        yield Sum(0.0, {Basic(exponential=True): 1 / scale if name == "expovariate" else scale}), env, weight
        return
    if name == "geometric" and len(values) == 1 and 0 < values[0] < 1:
        yield Sum(0.0, {Basic(-math.log1p(-values[0])): 1.0}), env, weight
        return
    if name == "binomial" and len(values) == 2 and values[0] == 1 and 0 <= values[1] <= 1:
        yield 1, env, weight * values[1]
        yield 0, env, weight * (1 - values[1])
        return
    if name in ("integers", "randrange") and 1 <= len(values) <= 2:
        found: Foreign = range(*map(operator.index, values))
    elif name == "randint" and len(values) == 2:
        found = range(operator.index(values[0]), operator.index(values[1]) + 1)
    elif name == "getrandbits" and len(values) == 1:
        found = range(1 << operator.index(values[0]))
    elif name == "choice" and len(values) == 1 and isinstance(values[0], tuple):
        found = values[0]
    else:
        raise UnreadError
    if not 0 < len(found) <= _MOST_VALUES:
        raise UnreadError
    for value in found:
        yield value, env, weight / len(found)
