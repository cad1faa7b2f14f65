"""Functions that draw noise by branches: coins until one falls, staircase and discrete noise.

Such code takes public numbers and a generator, and makes one number. It is read, not run: the law of what it
makes follows from its source, statement by statement, as weights of what its names can hold. What comes back
to the same values is added up, so that a loop that starts anew is summed in closed form. A uniform draw that
is compared with a number is a coin, and uniform below or above that number afterwards.

A function may take one raw number, too: then its answer is paid for at the largest ratio of its density.

What is made is whole, with the chances p_k, or has a density that is constant between breakpoints, or is
exponential noise, perhaps with a sign: the logarithm of a uniform number. To move a whole number or a stair
by h costs at most the largest log p(x) / p(x + g) over all x and all g between 0 and h, which is looked up
in the law. What has a chance below 2^-60 is left out: the draws of a generator are no finer.
"""

from __future__ import annotations

import ast
import bisect
import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic.answers import is_raw, original
from verifiable_dp.evidence.symbolic.draws import FollowedGenerator, geometric
from verifiable_dp.evidence.symbolic.randoms import FollowedRandom
from verifiable_dp.evidence.symbolic.source import body_of
from verifiable_dp.evidence.symbolic.terms import Charge, SymbolicDraw, Term, World, moves_of, number

_GENERATORS = (FollowedGenerator, FollowedRandom)
_LEAST, _NOTHING = 2.0**-60, 1e-30
_MOST_STEPS, _MOST_VALUES, _MOST_PARTS = 200_000, 1 << 12, 4
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
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
_ONES: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (int, float, bool, abs, min, max, round, range, Fraction)
}
_MATH = ("exp", "log", "sqrt", "expm1", "log1p", "floor", "ceil", "log2", "pow")
_PLAIN = (int, float, bool, Fraction, str, type(None), np.number, np.bool_)


class _Unknown(Exception):
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


def _law(leaves: list[tuple[Any, float]]) -> SamplerLaw | Usual | ReportSampler | None:
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
                raise _Unknown
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
            raise _Unknown
        ends = [one.put(draws[0], end) for end in draws[0].part or (Sum(0.0, {}), Sum(1.0, {}))]
        left, right = ends if one.by[draws[0]] > 0 else ends[::-1]
        pieces.append((left, right, weight / abs(one.by[draws[0]])))
    low, high = next(draw.raw for one, _ in parts for draw in _all_draws(one) if draw.raw)
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


def _all_draws(one: Sum) -> Iterator[Basic]:
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
            raise _Unknown
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


def _sum_of(value: Any) -> Sum:
    if isinstance(value, Sum):
        return value
    if not isinstance(value, int | float | Fraction | np.number | np.bool_):
        raise _Unknown
    return Sum(float(value), {})


def _operated(kind: type, left: Any, right: Any) -> Any:
    left, right = (v.const if isinstance(v, Sum) and not v.by else v for v in (left, right))
    if not isinstance(left, Sum) and not isinstance(right, Sum):
        return _OPERATORS[kind](left, right)
    if kind in (ast.Add, ast.Sub):
        one, other = _sum_of(left), _sum_of(right)
        return one.plus(other.times(-1.0 if kind is ast.Sub else 1.0))
    if kind is ast.Mult and not (isinstance(left, Sum) and isinstance(right, Sum)):
        one, by = (left, right) if isinstance(left, Sum) else (right, left)
        return one.times(float(by))
    if kind is ast.Div and isinstance(left, Sum) and not isinstance(right, Sum):
        return left.times(1 / float(right))
    raise _Unknown


# ---------------------------------------------------------------- reading

Env = dict[str, Any]
Ways = list[tuple[Any, Env, float]]


class _Generator:
    """What a generator's name stands for."""


@dataclass(frozen=True, eq=False)
class _Object:
    """What ``self`` stands for."""

    value: Any


class _Reader:
    """Reads a function.

    Parameters
    ----------
    scope
        Globals of the function.

    Attributes
    ----------
    codes
        Of the functions that were read.
    reads
        Attributes and globals that were looked up, with what they held: owner, name, value.
    """

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self._scope, self._steps = scope, 0
        self.codes: set[Any] = set()
        self.reads: list[tuple[Any, str, Any]] = []
        self._known: dict[Any, list[tuple[Any, float]]] = {}

    def call(self, function: Any, args: list[Any]) -> list[tuple[Any, float]]:
        """What a function returns, each value with its chance."""
        plain = all(isinstance(a, (*_PLAIN, _Generator)) for a in args)
        key = (function, tuple((type(a), a) for a in args)) if plain else None
        if key is not None and key in self._known:
            return self._known[key]
        node, code = body_of(function.__code__), function.__code__
        usual = function.__defaults__ or ()
        own = isinstance(node, ast.FunctionDef) and not node.decorator_list and not code.co_freevars
        if not own or function.__globals__ is not self._scope or len(self.codes) > 50:
            raise _Unknown
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        others = node.args.vararg or node.args.kwarg or node.args.kwonlyargs
        if others or not len(names) - len(usual) <= len(args) <= len(names):
            raise _Unknown
        given = [*args, *map(_read, usual[len(usual) - len(names) + len(args) :])]
        self.codes.add(code)
        found = self.law(node.body, dict(zip(names, given, strict=True)))
        if key is not None and not any(isinstance(value, Sum) for value, _ in found):
            self._known[key] = found
        return found

    def law(self, body: list[ast.stmt], env: Env) -> list[tuple[Any, float]]:
        """What statements return, each value with its chance."""
        returned: list[tuple[Any, float]] = []
        self._block(body, [(env, 1.0)], returned, [], [])
        merged: dict[Any, list[Any]] = {}
        for value, weight in returned:
            spot = value if isinstance(value, Sum) else (type(value), value)
            merged.setdefault(spot, [value, 0.0])[1] += weight
        found = [(value, weight) for value, weight in merged.values()]
        raw = next((d.raw for v, _ in found if isinstance(v, Sum) for d in _all_draws(v) if d.raw), (0.0,))
        for x in raw:  # a part of a draw that gets lost takes its share with it
            if not abs(math.fsum(w * _share(v, x) for v, w in found) - 1) < 1e-9:
                raise _Unknown
        return found

    # ------------------------------------------------------------ statements

    def _block(
        self, body: list[ast.stmt], envs: list[Any], returned: Any, broken: Any, ahead: Any
    ) -> list[Any]:
        """What names hold after some statements; what returns, breaks or continues goes into the lists."""
        for node in body:
            if not envs:
                break
            self._steps += len(envs)
            if self._steps > _MOST_STEPS:
                raise _Unknown
            envs = _merged(self._statement(node, envs, returned, broken, ahead))
        return envs

    def _statement(self, node: Any, envs: list[Any], returned: Any, broken: Any, ahead: Any) -> list[Any]:
        if isinstance(node, ast.Return):
            for env, weight in envs:
                returned += [(v, weight * w) for v, _, w in self._of(node.value, env)]
            return []
        if isinstance(node, ast.Break | ast.Continue):
            (broken if isinstance(node, ast.Break) else ahead).extend(envs)
            return []
        if isinstance(node, ast.If):
            yes, no = self._split(node.test, envs)
            after = self._block(node.body, _merged(yes), returned, broken, ahead)
            return after + self._block(node.orelse, _merged(no), returned, broken, ahead)
        if isinstance(node, ast.While) and not node.orelse:
            return self._loop(node, envs, returned)
        if isinstance(node, ast.Pass) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return envs
        if isinstance(node, ast.For) and not node.orelse:
            return self._repeated(node, envs, returned)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            return [found for env, weight in envs for found in self._assigned(node, env, weight)]
        raise _Unknown

    def _assigned(self, node: Any, env: Env, weight: float) -> Iterator[Any]:
        value = node.value
        if isinstance(node, ast.AugAssign):
            value = ast.BinOp(ast.Name(getattr(node.target, "id", " "), ast.Load()), node.op, node.value)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for found, after, w in self._of(value, env):
            after = dict(after)
            for target in targets:
                several = isinstance(target, ast.Tuple)
                names, values = (getattr(target, "elts", []), found) if several else ([target], (found,))
                if not isinstance(values, tuple) or len(names) != len(values):
                    raise _Unknown
                for name, one in zip(names, values, strict=True):
                    if not isinstance(name, ast.Name):
                        raise _Unknown
                    after[name.id] = one
            yield after, weight * w

    def _repeated(self, node: ast.For, envs: list[Any], returned: Any) -> list[Any]:
        done: list[Any] = []
        if not isinstance(node.target, ast.Name):
            raise _Unknown
        for env, weight in envs:
            for values, after, w in self._of(node.iter, env):
                if not isinstance(values, range) or len(values) > _MOST_VALUES:
                    raise _Unknown
                inside = [(after, weight * w)]
                for value in values:
                    inside = [({**e, node.target.id: value}, x) for e, x in inside]
                    ahead: list[Any] = []
                    inside = _merged(self._block(node.body, inside, returned, done, ahead) + ahead)
                done += inside
        return done

    def _loop(self, node: ast.While, envs: list[Any], returned: Any) -> list[Any]:
        """A loop until hardly anything is left in it; what repeats itself is summed at once."""
        done: list[Any] = []
        gone = _anew(node)
        envs = _without(gone, envs)
        while math.fsum(w for _, w in envs) > _NOTHING:
            out: list[Any] = []
            back: list[Any] = []
            yes, no = self._split(node.test, envs)
            left: list[Any] = []
            following = _without(gone, self._block(node.body, _merged(yes), out, left, back) + back)
            again = _ratio(envs, following)
            if again is not None:
                done += [(env, w / (1 - again)) for env, w in no + left]
                returned += [(value, w / (1 - again)) for value, w in out]
                return done
            done += no + left
            returned += out
            envs = following
        return done

    def _split(self, test: ast.expr, envs: list[Any]) -> tuple[list[Any], list[Any]]:
        """Where a condition holds, and where not."""
        sides: tuple[list[Any], list[Any]] = ([], [])
        for env, weight in envs:
            for value, after, w in self._of(test, env):
                if isinstance(value, Sum) or not isinstance(value, _PLAIN):
                    raise _Unknown
                sides[not value].append((after, weight * w))
        return sides

    # ------------------------------------------------------------ expressions

    def _of(self, node: Any, env: Env) -> Ways:
        """The values of an expression."""
        self._steps += 1
        if isinstance(node, ast.Constant):
            return [(node.value, env, 1.0)]
        if isinstance(node, ast.Name):
            return [(self._named(node.id, env), env, 1.0)]
        if isinstance(node, ast.Attribute):
            if _is_module(node.value, self._scope) and node.attr in ("pi", "e", "inf"):
                return [(getattr(math, node.attr), env, 1.0)]
            return [(self._attribute(node, env), env, 1.0)]
        if isinstance(node, ast.UnaryOp):
            return [(self._turned(node.op, v), e, w) for v, e, w in self._of(node.operand, env)]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            pairs = self._all([node.left, node.right], env)
            return [(_operated(type(node.op), *values), e, w) for values, e, w in pairs]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            if (size := self._whole_draw(node.left, env)) is not None and isinstance(node.ops[0], ast.Lt):
                ways = self._all([size, node.comparators[0]], env)
                return [way for v, e, w in ways for way in _below(v, e, w)]
            pairs = self._all([node.left, node.comparators[0]], env)
            return [way for v, e, w in pairs for way in _compared(type(node.ops[0]), v, e, w)]
        if isinstance(node, ast.BoolOp):
            return self._logical(node, env)
        if isinstance(node, ast.IfExp):
            return [
                (value, e, w * x)
                for holds, after, w in self._of(node.test, env)
                for value, e, x in self._of(node.body if _truth(holds) else node.orelse, after)
            ]
        if isinstance(node, ast.Tuple | ast.List):
            return [(tuple(values), e, w) for values, e, w in self._all(node.elts, env)]
        if isinstance(node, ast.Call) and not node.keywords:
            return self._called(node, env)
        raise _Unknown

    def _whole_draw(self, node: Any, env: Env) -> Any:
        """The first of how many whole numbers is drawn by an expression; None of anything else."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
            node = node.args[0] if len(node.args) == 1 else None
        made = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
        if not isinstance(made, ast.Attribute) or made.attr not in ("integers", "randrange"):
            return None
        return node.args[0] if isinstance(self._owner(made, env), _Generator) else None

    def _owner(self, node: ast.Attribute, env: Env) -> Any:
        """That of which an attribute is looked up."""
        return self._of(node.value, env)[0][0] if isinstance(node.value, ast.Name | ast.Attribute) else None

    def _named(self, name: str, env: Env) -> Any:
        if name in env:
            return env[name]
        found = self._scope.get(name, _MISSING)
        self.reads.append((None, name, found))
        return _read(found)

    def _attribute(self, node: ast.Attribute, env: Env) -> Any:
        """What an attribute of ``self`` holds, or a part of a fraction."""
        owner = self._owner(node, env)
        if isinstance(owner, Fraction) and node.attr in ("numerator", "denominator"):
            return getattr(owner, node.attr)
        if type(owner) is not _Object:
            raise _Unknown
        found = inspect.getattr_static(owner.value, node.attr, _MISSING)
        self.reads.append((owner.value, node.attr, found))
        return _read(found)

    def _turned(self, kind: Any, value: Any) -> Any:
        if isinstance(value, Sum):
            if isinstance(kind, ast.USub):
                return value.times(-1.0)
            raise _Unknown
        return _ONES[type(kind)](value)

    def _all(self, nodes: list[Any], env: Env) -> Ways:
        """The values of several expressions, one after the other."""
        ways: Ways = [([], env, 1.0)]
        for node in nodes:
            ways = [
                ([*(_put(v, e) for v in values), value], e, w * x)
                for values, before, w in ways
                for value, e, x in self._of(node, before)
            ]
        return ways

    def _logical(self, node: ast.BoolOp, env: Env) -> Ways:
        first, *rest = node.values
        ways = self._of(first, env)
        for other in rest:
            ends = isinstance(node.op, ast.Or)
            ways = [
                way
                for value, e, w in ways
                for way in (
                    [(value, e, w)]
                    if _truth(value) is ends
                    else [(v, after, w * x) for v, after, x in self._of(other, e)]
                )
            ]
        return ways

    def _called(self, node: ast.Call, env: Env) -> Ways:
        made = node.func
        ways = self._all(node.args, env)
        if isinstance(made, ast.Attribute):
            if _is_module(made.value, self._scope) and made.attr in ("log", "log1p"):
                return [(*_logarithm(v, e, made.attr), w) for v, e, w in ways]
            if _is_module(made.value, self._scope) and made.attr == "clip":
                return [(_clipped(*v), e, w) for v, e, w in ways]
            if _is_module(made.value, self._scope) and made.attr in _MATH:
                return [(_computed(getattr(math, made.attr), v), e, w) for v, e, w in ways]
            owner = self._owner(made, env)
            if isinstance(owner, _Generator):
                return [way for values, e, w in ways for way in _drawn(made.attr, values, e, w)]
            if type(owner) is not _Object:
                raise _Unknown
            method = original(inspect.getattr_static(owner.value, made.attr, None))
            if not inspect.isfunction(method) or made.attr in vars(owner.value):
                raise _Unknown
            return [(v, e, w * x) for values, e, w in ways for v, x in self.call(method, [owner, *values])]
        if not isinstance(made, ast.Name) or made.id in env:
            raise _Unknown
        function = original(self._scope.get(made.id))
        if inspect.isfunction(function) and made.id not in _STANDING:
            return [(v, e, w * x) for values, e, w in ways for v, x in self.call(function, values)]
        own = _BUILTINS.get(made.id)
        if own is None or (
            made.id in self._scope and made.id not in _STANDING and self._scope[made.id] is not own
        ):
            raise _Unknown
        return [(_computed(own, v), e, w) for v, e, w in ways]


_STANDING = ("min", "max", "int", "float")  # builtins for which tracing puts functions into the globals
_GIVEN, _MISSING = _Generator(), object()


def _read(value: Any) -> Any:
    """What a reader makes of a value of the program."""
    if type(value) in _READ:
        return value
    if issubclass(type(value), _GENERATORS):
        return _GIVEN
    if type(value) is tuple and all(type(v) in _READ for v in value):
        return value
    home = type(value).__module__.partition(".")[0]
    if home not in ("builtins", "numpy", "random", "verifiable_dp") and type(vars_of(value)) is dict:
        return _Object(value)
    raise _Unknown


def vars_of(value: Any) -> Any:
    """The attributes of an object that has a dictionary of them."""
    usual = inspect.getattr_static(type(value), "__getattribute__") is object.__getattribute__
    plain = usual and not hasattr(type(value), "__slots__")
    return value.__dict__ if plain and hasattr(value, "__dict__") else None


_READ = (int, float, bool, str, type(None), Fraction, np.float64, np.int64, np.bool_)


def _anew(node: ast.While) -> set[str]:
    """Names that each round of a loop sets before it looks at them."""
    seen = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
    found = set()
    for step in node.body:
        if isinstance(step, ast.Assign):
            seen |= {n.id for n in ast.walk(step.value) if isinstance(n, ast.Name)}
            found |= {n.id for n in ast.walk(step) if isinstance(n, ast.Name)} - seen
        seen |= {n.id for n in ast.walk(step) if isinstance(n, ast.Name)}
    return found


def _computed(function: Callable[..., Any], values: list[Any]) -> Any:
    """A function of plain numbers; a whole sum is its own whole number."""
    if len(values) == 1 and isinstance(values[0], Sum):
        (one,) = values
        whole = all(d.step and by == round(by) for d, by in one.by.items())
        if function is float or (function is int and whole and one.const == round(one.const)):
            return one
        if function in (abs, math.fabs):
            low, high = one.ends
            if low < 0 < high:
                raise _Unknown
            return one if low >= 0 else one.times(-1.0)
        return _whole_part(function, one)
    if function in (min, max) and len(values) == 2 and any(isinstance(v, Sum) for v in values):
        return _kept(function, *sorted(values, key=lambda v: not isinstance(v, Sum)))
    if any(not isinstance(v, _PLAIN) for v in values):
        raise _Unknown
    return function(*values)


def _whole_part(function: Callable[..., Any], one: Sum) -> Sum:
    """Of exponential noise it is geometric."""
    draw, by = next(iter(one.by.items()))
    if len(one.by) > 1 or not draw.exponential or one.const or by <= 0:
        raise _Unknown
    if function not in (int, math.floor, math.ceil):
        raise _Unknown
    return Sum(0.0 if function is math.ceil else -1.0, {Basic(1 / by): 1.0})


def _kept(function: Callable[..., Any], one: Sum, limit: Any) -> Sum:
    """A uniform number kept from an end of its range, by no more than its last bits."""
    low, high = one.ends
    gap = float(limit) - low if function is max else high - float(limit)
    if gap > 2.0**-52 * (high - low):
        raise _Unknown
    return one


def _clipped(value: Any, low: Any, high: Any) -> Any:
    return _computed(min, [_computed(max, [value, low]), high])


_GONE = " gone"  # uniform draws that a logarithm was taken of


def _logarithm(values: list[Any], env: Env, name: str) -> tuple[Any, Env]:
    """Of a uniform number on [0, c] it is log(c) less an exponential one."""
    if len(values) != 1 or not isinstance(values[0], Sum):
        return _computed(getattr(math, name), values), env
    one = values[0].shifted(1.0 if name == "log1p" else 0.0)
    low, high = one.ends
    if any(draw.raw for draw in one.by) or len(one.by) != 1 or high <= 0 or abs(low) > 1e-12 * high:
        raise _Unknown
    env = {**env, _GONE: frozenset((*env.get(_GONE, ()), *one.by))}
    return Sum(math.log(high), {Basic(exponential=True): -1.0}), env


def _truth(value: Any) -> bool:
    if isinstance(value, Sum) or not isinstance(value, _PLAIN):
        raise _Unknown
    return bool(value)


def _is_module(node: Any, scope: Mapping[str, Any]) -> bool:
    name = node.id if isinstance(node, ast.Name) else ""
    value = scope.get(name)
    return inspect.ismodule(value) and value.__name__ in ("math", "numpy")


def _put(value: Any, env: Env) -> Any:
    """A value after what was learnt of the draws in it."""
    for draw, other in env.get(_LEARNT, ()):
        value = value.put(draw, other) if isinstance(value, Sum) else value
    return value


_LEARNT = " learnt"


def _compared(kind: type, values: list[Any], env: Env, weight: float) -> Iterator[tuple[Any, Env, float]]:
    """A comparison; that of a uniform draw with a number is a coin, and the draw is uniform on its side."""
    left, right = values
    if not isinstance(left, Sum) and not isinstance(right, Sum):
        if not all(isinstance(v, _PLAIN) for v in values):
            raise _Unknown
        yield bool(_OPERATORS[kind](left, right)), env, weight
        return
    gap = _sum_of(left).plus(_sum_of(right).times(-1.0))
    ordered = kind in (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    draws = [(draw, by) for draw, by in gap.by.items() if not draw.raw]
    if len(draws) != 1:
        raise _Unknown
    ((draw, by),) = draws
    if draw.exponential or draw.part or draw in env.get(_GONE, ()):
        raise _Unknown
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


def _parted(kind: type, draw: Basic, gap: Sum, env: Env, weight: float) -> Iterator[tuple[Any, Env, float]]:
    """A comparison of a uniform draw with a raw number, which lies within the range of the draw."""
    by = gap.by[draw]
    limit = gap.put(draw, Sum(0.0, {})).times(-1 / by)
    low, high = limit.ends
    if not draw.fresh or kind not in (ast.Lt, ast.LtE, ast.Gt, ast.GtE) or low < -1e-12 or high > 1 + 1e-12:
        raise _Unknown
    before = [other for _, other in env.get(_LEARNT, ()) if any(d.part for d in other.by)]
    if len(before) >= _MOST_PARTS:  # in a loop there is no end of them
        raise _Unknown
    below = (kind in (ast.Lt, ast.LtE)) == (by > 0)
    for part, answer in (((Sum(0.0, {}), limit), below), ((limit, Sum(1.0, {})), not below)):
        yield answer, _learnt(env, draw, Sum(0.0, {Basic(part=part): 1.0})), weight


def _share(value: Any, raw: float) -> float:
    """The chance of the parts of draws in a value."""
    parts = [draw.part for draw in value.by if draw.part] if isinstance(value, Sum) else []
    return math.prod(high.at(raw) - low.at(raw) for low, high in parts)


def _learnt(env: Env, draw: Basic, other: Sum) -> Env:
    """What names hold after something was learnt of a draw."""
    after = {name: value.put(draw, other) if isinstance(value, Sum) else value for name, value in env.items()}
    after[_LEARNT] = (*env.get(_LEARNT, ()), (draw, other))
    return after


def _valued(kind: type, draw: Basic, gap: Sum, env: Env, weight: float) -> Iterator[tuple[Any, Env, float]]:
    """A comparison of a geometric draw, value by value."""
    ratio = math.exp(-draw.step)
    for n in range(1, 2 + int(math.log(_NOTHING) / -draw.step)):
        answer = bool(_OPERATORS[kind](gap.const + gap.by[draw] * n, 0))
        yield answer, _learnt(env, draw, Sum(float(n), {})), weight * (1 - ratio) * ratio ** (n - 1)


def _below(values: list[Any], env: Env, weight: float) -> Iterator[tuple[Any, Env, float]]:
    """Whether one of the first whole numbers is below another number."""
    size, limit = (operator.index(value) for value in values)
    limit = min(max(limit, 0), size)
    for answer, share in ((True, limit / size), (False, (size - limit) / size)):
        if share:
            yield answer, env, weight * share


def _drawn(name: str, values: list[Any], env: Env, weight: float) -> Iterator[tuple[Any, Env, float]]:
    """What a method of a generator draws."""
    if (name == "random" and not values) or (name == "uniform" and len(values) in (0, 2)):
        low, high = map(_sum_of, values or (0.0, 1.0))
        wide = high.plus(low.times(-1.0))
        if wide.by or wide.const <= 0 or not all(draw.raw for draw in low.by):
            raise _Unknown
        yield low.plus(Sum(0.0, {Basic(): wide.const})), env, weight
        return
    if any(isinstance(v, Sum) for v in values):
        raise _Unknown
    if name in ("exponential", "expovariate", "standard_exponential") and len(values) <= 1:
        scale = float(values[0]) if values else 1.0
        if not scale > 0 or (values and name == "standard_exponential"):
            raise _Unknown
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
        found: Any = range(*map(operator.index, values))
    elif name == "randint" and len(values) == 2:
        found = range(operator.index(values[0]), operator.index(values[1]) + 1)
    elif name == "getrandbits" and len(values) == 1:
        found = range(1 << operator.index(values[0]))
    elif name == "choice" and len(values) == 1 and isinstance(values[0], tuple):
        found = values[0]
    else:
        raise _Unknown
    if not 0 < len(found) <= _MOST_VALUES:
        raise _Unknown
    for value in found:
        yield value, env, weight / len(found)


def _spot(env: Env) -> Any:
    return tuple(
        (name, id(v) if isinstance(v, Sum | _Generator) else (type(v), v))
        for name, v in sorted(env.items())
        if name != _LEARNT
    )


def _merged(envs: list[Any]) -> list[Any]:
    """What names hold, with what is the same added up."""
    found: dict[Any, Any] = {}
    for env, weight in envs:
        if weight > 0:
            spot = _spot(env)
            found[spot] = (env, found[spot][1] + weight) if spot in found else (env, weight)
    return list(found.values())


def _without(names: set[str], envs: list[Any]) -> list[Any]:
    """What names hold, without some of them."""
    return _merged([({k: v for k, v in e.items() if k not in names}, w) for e, w in envs])


def _ratio(before: list[Any], after: list[Any]) -> float | None:
    """The share that goes on, where a loop begins again with the same values in the same proportions."""
    one, other = ({_spot(e): w for e, w in envs} for envs in (before, after))
    if one.keys() != other.keys() or not one:
        return None
    shares = [other[spot] / one[spot] for spot in one]
    if max(shares) - min(shares) > 1e-13 * max(shares):
        return None
    return shares[0] if shares[0] < 1 - 1e-9 else None


# ---------------------------------------------------------------- what stands in for the code

_LAWS: dict[
    Any, list[tuple[list[tuple[Any, str, Any]], SamplerLaw | Usual | ReportSampler | None, frozenset[Any]]]
] = {}
_MOST_LAWS = 256


def _law_of(key: Any, scope: Mapping[str, Any], read: Callable[[_Reader], Any], owner: Any) -> Any:
    """The law of what is made, None if it has no bound, and the code that was read."""
    for reads, law, codes in _LAWS.get(key, ()):
        if all(
            _same(scope.get(n, _MISSING) if of is None else inspect.getattr_static(owner, n, _MISSING), value)
            for of, n, value in reads
        ):
            return law, codes
    reader = _Reader(scope)
    try:
        law = _law(read(reader))
        costs = (
            [law.cost]
            if isinstance(law, ReportSampler)
            else map(law.price, (1.0, -1.0))
            if isinstance(law, SamplerLaw)
            else [0.0]
        )
        law = law if min(costs) < math.inf else None
    except (_Unknown, ArithmeticError, TypeError, ValueError, KeyError, RecursionError):
        law = None
    if len(_LAWS) >= _MOST_LAWS:
        _LAWS.clear()
    if all(of is None or of is owner for of, _, _ in reader.reads):
        known = _LAWS.setdefault(key, [])
        known[:] = [*known[-8:], (reader.reads, law, frozenset(reader.codes))]
    return law, frozenset(reader.codes)


def _same(now: Any, value: Any) -> bool:
    """Whether a name still holds what it held."""
    if issubclass(type(now), _GENERATORS) or inspect.isfunction(now):
        return type(now) is type(value)
    return now is value or (type(now) is type(value) and type(now) in _READ and now == value)


def _made(
    world: World, law: SamplerLaw | Usual | ReportSampler, codes: frozenset[Any], draw: Callable[[], Any]
) -> Any:
    """Noise of a law, as the code draws it."""
    for code in codes:
        world.note(code, tried=True)
        world.drawn.add((code, None))
    with _bare(world):
        value = float(draw())
    if isinstance(law, ReportSampler):
        return value
    if isinstance(law, Usual):
        drawn = SymbolicDraw(law.kind, (value - law.center) / law.scale)
        return Term(world, law.center, {}, {drawn: law.scale})
    made = SymbolicDraw("geometric", value, law.step) if law.step else SymbolicDraw("law", value, of=law)
    return geometric(world, made) if law.step else Term(world, 0.0, {}, {made: 1.0}, law.whole)


@contextmanager
def _bare(world: World) -> Iterator[None]:
    """Let the generators give plain numbers."""
    world.bare = True
    try:
        yield
    finally:
        world.bare = False


def drawing(world: World, function: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose draw is noise of a known law if it is one; else `otherwise`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        own = len(args) + len(kwargs) <= len(names) and {*names[len(args) : len(args) + len(kwargs)]} == {
            *kwargs
        }
        values = [*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs)] if own else []
        known = _known(world, values, raw=True) if own else None
        if known is None:
            return otherwise(*args, **kwargs)
        key, given, owner = known
        read = functools.partial(_Reader.call, function=function, args=given)
        law, codes = _law_of((function.__code__, key), function.__globals__, read, owner)
        if law is None:
            return otherwise(*args, **kwargs)
        public = {name for name, value in zip(names, values, strict=False) if not is_raw(number(value))}
        world.drawn.add((function.__code__, frozenset(public)))
        plain = [v.value() if type(v) is Term else v for v in values]
        made = _made(world, law, codes, lambda: function(*plain))
        if isinstance(law, ReportSampler):
            units = {unit for v in values if type(v) is Term for unit in moves_of(v.raw)}
            world.charges.append(Charge(world.place(), dict.fromkeys(units, (law.cost, law.cost))))
        return made

    return call


def _known(world: World, values: Any, *, raw: bool = False) -> tuple[Any, list[Any], Any] | None:
    """What public numbers, generators and one object are, and that object; None if there is anything else.

    One of the numbers may be raw, if that is said.
    """
    if world.oracle is not None or world.bare:
        return None
    ends = [value.range() for value in map(number, values) if is_raw(value) and type(value) is Term]
    if len(ends) > raw or not all(map(math.isfinite, itertools.chain(*ends))):
        return None
    try:
        given = [
            Sum(0.0, {Basic(raw=ends[0]): 1.0}) if ends and type(number(value)) is Term else _read(value)
            for value in values
        ]
    except _Unknown:
        return None
    owners = [value.value for value in given if type(value) is _Object]
    key = tuple(
        type(v.value) if type(v) is _Object else ends[0] if type(v) is Sum else (type(v), v) for v in given
    )
    return (key, given, owners[0] if owners else None) if len(owners) <= 1 else None


@functools.lru_cache(maxsize=1 << 12)
def draws_noise(code: Any) -> bool:
    """Whether a function may be one that draws noise by branches."""
    function = body_of(code)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or code.co_freevars:
        return False
    kinds = (ast.If, ast.IfExp, ast.While, ast.For)
    barred = (ast.ListComp, ast.Yield, ast.YieldFrom, ast.Subscript)
    nodes = list(ast.walk(function))
    return any(isinstance(n, kinds) for n in nodes) and not any(isinstance(n, barred) for n in nodes)


def samplers_of(scope: Mapping[str, Any]) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Functions of a module and methods of its classes that may draw noise: owner, name, function."""
    for name, value in list(scope.items()):
        if getattr(value, "__module__", None) != scope.get("__name__"):
            continue
        if inspect.isfunction(value) and draws_noise(value.__code__):
            yield scope, name, value
        elif inspect.isclass(value):
            for method, function in list(vars(value).items()):
                if inspect.isfunction(function) and draws_noise(function.__code__):
                    yield value, method, function
