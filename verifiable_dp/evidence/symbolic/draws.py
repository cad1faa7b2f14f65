"""A generator whose draws are followed: noise of known law, coins, and uniform draws that may become either.

The stream of numbers is that of the generator it stands in for. Draws from any other source count as public
numbers, which hide nothing.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import special

from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.judge.replay import position
from verifiable_dp.evidence.symbolic import accept_reject, answers, boxes, enclosures
from verifiable_dp.evidence.symbolic.terms import (
    Lazy,
    Origin,
    Part,
    SymbolicDraw,
    Term,
    World,
    above,
    add,
    divide,
    indicator,
    is_term,
    log_moves,
    minus,
    moves_of,
    multiply,
    nature,
    number,
    opaque,
    outcome,
    plus,
    subtract,
    total,
    unseen,
)

_GRID = np.concatenate(
    [
        np.geomspace(2**-53, 1e-3, 400),
        np.linspace(0.001, 0.999, 3001) + 1e-5 * np.pi,
        1 - np.geomspace(1e-3, 2**-53, 400),
    ]
)
# Quantile functions of the laws at scale 1, at u and at 1 - u.
_QUANTILES: dict[str, Callable[[Foreign], Foreign]] = {
    "laplace": lambda u: np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))),
    "exponential": lambda u: -np.log1p(-u),
    "gumbel": lambda u: -np.log(-np.log(u)),
    "logistic": lambda u: np.log(u) - np.log1p(-u),
    "normal": special.ndtri,
    "cauchy": lambda u: np.tan(np.pi * (u - 0.5)),
    "hypsecant": lambda u: np.log(np.tan(np.pi * u / 2)),
}


class UniformDraw(Lazy):
    """A function of one uniform draw: a coin if compared with a number, noise if added to data.

    Attributes
    ----------
    source
        The draw.
    function
        Gives the number for an array of values of the draw.
    """

    __array_priority__ = 3000.0
    nature = "uniform"
    kind: Foreign = np.float64
    stretches = False

    def __init__(
        self, source: DrawSource, function: Callable[[Foreign], Foreign], whole: bool = False
    ) -> None:
        self.source, self.function, self.whole = source, function, whole
        self.step = 0.0  # what a step costs, of geometric noise

    @property
    def world(self) -> World:
        """The run it belongs to."""
        return self.source.world

    def plain(self) -> Foreign:
        """The number itself: the draw is public from here on."""
        source = self.source
        if not (source.is_public or source.taken or source.thins or source.state or self.world.oracle):
            source.value = self.world.chooser.level(source.value)
        else:
            self.world.chooser.opens()
        source.spend()
        return np.float64(self.function(np.float64(source.value)))

    def term(self) -> Foreign:
        """The number, or noise of a known law around a constant."""
        if self.source.is_public or self.source.state is not None or self.source.thins:
            return self.plain()
        if self.source.noise is not None:
            function, made = self.source.noise
            return made if function is self.function else self.plain()
        if self.step:
            value = float(self.function(np.float64(self.source.value)))
            draw = SymbolicDraw("geometric", value, self.step, origin=self.source.through(self.function, 1.0))
            self.source.become_noise()
            made = geometric(self.world, draw)
            self.source.noise = (self.function, made)
            return made
        found = _law_of(self.function)
        if found is None:
            return self.plain()
        kind, center, scale = found
        if kind == "exponential":
            self.world.pooling = functools.partial(_pooled, self.world)
        self.source.become_noise()
        value = (float(self.function(np.float64(self.source.value))) - center) / scale
        draw = SymbolicDraw(kind, value, origin=self.source.through(self.function, scale))
        made = Term(self.world, center, {}, {draw: scale})
        self.source.noise = (self.function, made)
        return made

    def through(self, function: Callable[[Foreign], Foreign]) -> Foreign:
        """A function of it."""
        own = self.function
        if self.source.is_public:
            return function(self.plain())
        made = UniformDraw(self.source, lambda u: function(own(u)))
        if function is np.floor or function is np.ceil:
            # The whole part of exponential noise is geometric.
            kind, center, scale = _law_of(own) or ("", 0.0, 0.0)
            made.step = 1 / scale if kind == "exponential" and center == 0 and scale > 0 else 0.0
        return made

    def joined(self, other: UniformDraw, function: Callable[[Foreign, Foreign], Foreign]) -> UniformDraw:
        """A function of two numbers that both follow from this draw."""
        mine, theirs = self.function, other.function
        return UniformDraw(self.source, lambda u: function(mine(u), theirs(u)))

    def _with(
        self, other: Foreign, function: Callable[[Foreign, Foreign], Foreign], side: int = 1
    ) -> Foreign:
        """What an operation makes of it and of `other`, which stands on this side of it."""
        if type(other) is UniformDraw and other.source is self.source and not self.source.is_public:
            return self.joined(other, function)
        if isinstance(other, UniformDraw) and function in _SIGNS and not self._gone and not other._gone:
            return Product([*self.factors, *((f, _SIGNS[function] * by) for f, by in other.factors)])
        if type(other) in (UniformDraw, Product, DrawnCoin, accept_reject.Pick, accept_reject.Veiled):
            other = boxes.ordinary(other)
        other = number(other)
        if type(other) is Term:
            if type(self) is DrawnCoin and function is operator.mul and not other.noise:
                mixed = self.mixed(other, 0)
                if mixed is not None:
                    return mixed
            if function is operator.mul and not self._gone and is_fresh(other) and _sign_size(self.function):
                return self._signed(other)
            less = function is operator.sub and side and self.is_bare and not self._gone
            if less and other.ratio is not None and not other.noise:
                return Stretched(self, 1.0, other)
            stretches = function is operator.mul and self.is_bare and not self._gone and not other.noise
            return (
                Stretched(self, other)
                if stretches and other.ratio is not None
                else _ordered(function, self.term(), other, side)
            )
        if isinstance(other, int | float | np.number | np.bool_):
            own = float(other)
            if type(self) is not DrawnCoin:  # which is told here
                self.source.shape(side)
            return self.through(lambda x: _ordered(function, x, own, side))
        return NotImplemented

    def _signed(self, other: Term) -> Term:
        """Noise with a random sign; from here on it takes the place of the noise."""
        (draw, weight), sign = (
            next(iter(other.noise.items())),
            float(self.function(np.float64(self.source.value))),
        )
        size = abs(weight * sign)
        value = math.copysign(1.0, weight * sign) * draw.value
        made = Term(self.world, 0.0, {}, {SymbolicDraw(_SIGNED[draw.kind], value): size})
        self.source.noise = (self, made)
        self.source.count()
        draw.used = True  # with another sign it would be the same noise again
        self.world.finishing.append(functools.partial(unseen, self.world, draw))
        return made

    @property
    def factors(self) -> list[tuple[UniformDraw, int]]:
        """Of which it is the product, each with its power."""
        return [(self, 1)]

    @property
    def _gone(self) -> bool:
        """Whether it cannot become noise any more."""
        source = self.source
        used = source.state is not None or source.noise is not None or bool(source.thins)
        return used or source.is_public

    def __neg__(self) -> Foreign:
        return self.through(np.negative)

    def __abs__(self) -> Foreign:
        return self.through(np.abs)

    def _below(self, limit: Foreign) -> Foreign:
        """Whether it is below `limit`."""
        if type(limit) is accept_reject.Veiled:
            if self.is_bare and boxes.has_terms(limit.box):
                return limit.toss(self.source)
            limit = limit.plain()
        if type(limit) in (UniformDraw, Product, DrawnCoin, accept_reject.Pick):
            limit = limit.plain()
        limit = float(limit) if type(limit) is Fraction else number(limit)
        if type(limit) is Term:
            if limit.noise:
                made = None if self.is_bare or _is_line(self.function) else self.term()
                if type(made) is Term and made.noise:
                    return above(limit, made, strict=True)
                limit = limit.settle()
            elif limit.raw:
                return self.source.below_chance(limit) if self.is_bare else self.plain() < limit
        if not isinstance(limit, int | float | np.number):
            return NotImplemented
        own, bound = self.function, float(limit)
        certain = self.is_bare and not 0 < bound < 1
        self.world.compare(certain=certain, public=True)
        if certain:
            return np.bool_(bound >= 1)
        self.source.shape(None)
        if self.source.is_public or self.source.state is not None:
            return bool(self.plain() < bound)
        if not self.is_bare and not _shows(own, bound):
            raise self.world.stop("a coin is made in a way that may come out otherwise for a few draws")
        self.source.tosses(lambda u: own(u) < bound)
        return DrawnCoin(
            self.source, lambda u: own(u) < bound, min(max(bound, 0.0), 1.0) if self.is_bare else None
        )

    @property
    def is_bare(self) -> bool:
        """Whether it is the draw itself."""
        return self.function is _itself

    def __lt__(self, other: Foreign) -> Foreign:
        return self._below(other)

    __le__ = __lt__

    def __gt__(self, other: Foreign) -> Foreign:
        found = self._below(other)
        return found if found is NotImplemented else opposite(found)

    __ge__ = __gt__

    def __eq__(self, other: Foreign) -> Foreign:
        known = isinstance(other, int | float | np.number) and not nature(other) and not self.source.is_public
        if known and type(self) is UniformDraw and (_is_line(self.function) or _law_of(self.function)):
            self.world.compare(certain=True, public=True)
            return np.False_  # a number that has a density is no given one
        return self.plain() == other

    __hash__ = Lazy.__hash__

    def __round__(self, *digits: Foreign) -> Foreign:
        return round(float(self.plain()), *digits)


def _operator(function: Callable[[Foreign, Foreign], Foreign], side: int) -> Foreign:
    return lambda self, other: self._with(other, function, side)


for _name in ("add", "sub", "mul", "truediv", "pow"):
    for _side in (1, 0) if _name != "pow" else (1,):
        setattr(UniformDraw, f"__{'' if _side else 'r'}{_name}__", _operator(getattr(operator, _name), _side))
_SIGNS = {operator.mul: 1, operator.truediv: -1}


def _ordered(
    function: Callable[[Foreign, Foreign], Foreign], mine: Foreign, other: Foreign, side: int
) -> Foreign:
    return function(mine, other) if side else function(other, mine)


class Product(UniformDraw):
    """A product or quotient of functions of several uniform draws: its logarithm is a sum of noise."""

    def __init__(self, factors: list[tuple[UniformDraw, int]]) -> None:
        super().__init__(DrawSource(factors[0][0].world, 0.0), _itself)  # no draw's own
        self._factors = factors
        self.made: Term | None = None

    @property
    def factors(self) -> list[tuple[UniformDraw, int]]:
        """Of which it is the product, each with its power."""
        return self._factors

    @property
    def _gone(self) -> bool:
        sources = [factor.source for factor, _ in self._factors]
        return (
            self.made is not None
            or any(factor._gone for factor, _ in self._factors)
            or len({*sources}) < len(sources)
        )

    def plain(self) -> Foreign:
        """The number itself: the draws are public from here on."""
        return math.prod(factor.plain() ** by for factor, by in self._factors)

    def term(self) -> Foreign:
        """The number, or noise, if it is a sign with noise or a component of a size with a random angle."""
        if self.made is not None:
            return self.made
        if [by for _, by in self._factors] != [1, 1]:
            return self.plain()
        self.made = _component(self)
        if self.made is not None or self._gone:
            return self.made if self.made is not None else self.plain()
        for (one, _), (other, _) in itertools.permutations(self._factors):
            size, law = _sign_size(one.function), _law_of(other.function)
            if size and law is not None and law[1] == 0 and law[0] in _SIGNED:
                value = float(one.function(one.source.value) * other.function(np.float64(other.source.value)))
                scale = size * abs(law[2])
                self.made = Term(self.world, 0.0, {}, {SymbolicDraw(_SIGNED[law[0]], value / scale): scale})
                for factor in (one, other):
                    factor.source.noise = (self, self.made)
                    factor.source.count()
                return self.made
        return self.plain()

    def through(self, function: Callable[[Foreign], Foreign]) -> Foreign:
        """A function of it: the logarithm adds up those of the factors."""
        if function is not np.log or self._gone:
            return function(self.plain())
        return total(multiply(factor.through(np.log).term(), by) for factor, by in self._factors)

    def _with(
        self, other: Foreign, function: Callable[[Foreign, Foreign], Foreign], side: int = 1
    ) -> Foreign:
        if function in _SIGNS and isinstance(other, UniformDraw) and type(other) is not DrawnCoin:
            return super()._with(other, function, side)
        return _ordered(function, self.term(), boxes.ordinary(other), side)

    def _below(self, limit: Foreign) -> Foreign:
        return self.plain() < boxes.ordinary(limit)


class _Plane:
    """What one size and one angle have become: one normal draw, or two that stand upright on each other."""

    def __init__(self, axis: tuple[float, float], made: Term) -> None:
        self.axis, self.made = axis, [made]

    def settle(self) -> None:
        """Both are public."""
        for term in self.made:
            term.settle()


def _component(product: Product) -> Term | None:
    """The normal draw that Box and Muller's product of a size and the sine or cosine of an angle is."""
    for (one, _), (other, _) in itertools.permutations(product.factors):
        scale, axis = _rayleigh(one.function), _axis(other.function)
        if not scale or axis is None or one.source is other.source:
            continue
        first = one.source.noise[1] if one.source.noise is not None else None
        if first is None and (one._gone or other._gone):
            return None
        if isinstance(first, _Plane):
            theirs = other.source.noise[1] if other.source.noise is not None else None
            upright = abs(np.dot(first.axis, axis)) <= 1e-9 * math.hypot(*axis)
            if theirs is not first or len(first.made) > 1 or not upright:
                return None
        elif first is not None:
            return None
        values = [factor.function(np.float64(factor.source.value)) for factor in (one, other)]
        size = scale * math.hypot(*axis)
        made = Term(product.world, 0.0, {}, {SymbolicDraw("normal", float(math.prod(values)) / size): size})
        if first is not None:
            first.made.append(made)
        else:
            unit = (axis[0] / math.hypot(*axis), axis[1] / math.hypot(*axis))
            one.source.noise = other.source.noise = (product, _Plane(unit, made))
            one.source.count()
            other.source.count()
        return made
    return None


@functools.lru_cache(maxsize=256)
def _rayleigh(function: Callable[[Foreign], Foreign]) -> float:
    """The scale of a function of a draw that has Rayleigh's law, up to signs; else 0."""
    kind, center, scale = _law_of(lambda u: np.square(function(u))) or ("", 0.0, 0.0)
    return math.sqrt(scale / 2) if kind == "exponential" and center == 0 and scale > 0 else 0.0


@functools.lru_cache(maxsize=256)
def _axis(function: Callable[[Foreign], Foreign]) -> tuple[float, float] | None:
    """`a` and `b` of a function a cos(2 pi u) + b sin(2 pi u) of a draw; None of any other."""
    try:
        values = np.broadcast_to(np.asarray(function(_FINE), np.float64), _FINE.shape)
        a, b = (float(function(np.float64(u))) for u in (0.0, 0.25))
    except (TypeError, ValueError):
        return None
    gaps = np.abs(a * np.cos(2 * np.pi * _FINE) + b * np.sin(2 * np.pi * _FINE) - values)
    if not math.hypot(a, b) > 0 or (gaps > 1e-9 * math.hypot(a, b)).any():
        return None
    turns = enclosures.is_like(function, lambda u: a * np.cos(2 * np.pi * u) + b * np.sin(2 * np.pi * u), 1.0)
    return (a, b) if turns else None


def _product(world: World, left: Term, right: Term) -> Foreign:
    """The product of two draws that nothing else uses; None of anything else.

    Of two normal ones it is noise that can be paired, also a square of one. The root of 2 E, which is
    exponential, times a normal draw is Laplace noise.
    """
    if any(term.raw or term.const or len(term.noise) != 1 for term in (left, right)):
        return None
    (one, mine), (other, theirs) = (next(iter(term.noise.items())) for term in (left, right))
    kinds = {one.kind, other.kind}
    if kinds not in ({"normal"}, {"normal", "root"}) or any(draw.used or draw.met for draw in (one, other)):
        return None
    one.used = other.used = True
    world.finishing.append(functools.partial(unseen, world, one, other))
    if "root" in kinds:
        value = math.sqrt(2) * one.value * other.value
        return Term(world, 0.0, {}, {SymbolicDraw("laplace", value): mine * theirs / math.sqrt(2)})
    world.pooling = functools.partial(_pooled, world)
    made = SymbolicDraw("square" if one is other else "product", one.value * other.value)
    return Term(world, 0.0, {}, {made: mine * theirs})


# Two independent draws of one kind and size together: another law, at a multiple of their size. That of
# N1 N2 + N3 N4 has the characteristic function 1 / (1 + t^2), and N1^2 + N2^2 is twice an exponential draw.
_PAIRS = {"product": ("laplace", 1.0), "square": ("exponential", 2.0)}


def _paired(world: World, noise: Foreign) -> Foreign:
    """Noise in which two products or squares of normal draws are one draw."""
    waiting: dict[tuple[str, float], SymbolicDraw] = {}
    for draw, weight in list(noise.items()):
        if draw.kind not in _PAIRS or draw.used:
            continue
        size = abs(weight) if draw.kind == "product" else weight
        first = waiting.pop((draw.kind, size), None)
        if first is None:
            waiting[draw.kind, size] = draw
            continue
        kind, times = _PAIRS[draw.kind]
        value = (noise[first] * first.value + weight * draw.value) / (times * size)
        noise = {d: w for d, w in noise.items() if d not in (first, draw)} | {
            SymbolicDraw(kind, value): times * size
        }
        first.used = draw.used = True
        world.finishing.append(functools.partial(unseen, world, first, draw))
    return noise


def geometric(world: World, draw: SymbolicDraw) -> Term:
    """A geometric draw."""
    world.pooling = functools.partial(_pooled, world)
    return Term(world, 0.0, {}, {draw: 1.0}, True)


@dataclass(frozen=True)
class TwoSided:
    """The law of the difference of two geometric draws: chances fall by exp(-step) to both sides of 0."""

    step: float
    whole: bool = True

    def price(self, shift: float) -> float:
        """What it costs to move by a whole number."""
        return abs(shift) * self.step


def _differences(world: World, noise: Foreign) -> Foreign:
    """Noise in which the difference of two geometric or exponential draws of one law is one draw."""
    draws = (
        [d for d in noise if d.kind in ("geometric", "exponential") and not d.used] if len(noise) > 1 else []
    )
    for one, other in itertools.combinations(draws, 2):
        same = one.kind == other.kind and abs(one.step - other.step) <= 1e-12 * one.step
        if (
            one in noise
            and other in noise
            and same
            and noise[one] == -noise[other]
            and not (one.met and other.met)
        ):
            value = one.value - other.value
            made = (
                SymbolicDraw("law", value, of=TwoSided(max(one.step, other.step)))
                if one.step
                else SymbolicDraw("laplace", value)
            )
            noise = {d: w for d, w in noise.items() if d not in (one, other)} | {made: noise[one]}
            one.used = other.used = True
            world.finishing.append(functools.partial(unseen, world, one, other))
    return noise


def _pooled(world: World, noise: Foreign) -> Foreign:
    """Noise in which draws of one scale whose shapes add up to 1 are one draw, and pairs.

    Of gamma draws it is exponential, of negative binomial ones geometric.
    """
    noise = _paired(world, noise)
    alike: dict[tuple[str, float, float], list[SymbolicDraw]] = {}
    for draw, weight in noise.items():
        if draw.kind in _PARTS and not draw.used:
            alike.setdefault((draw.kind, weight, draw.step), []).append(draw)
    for (kind, weight, step), draws in alike.items():
        if abs(math.fsum(draw.shape for draw in draws) - 1) > 1e-9:
            continue
        noise = {draw: w for draw, w in noise.items() if draw not in draws}
        noise[SymbolicDraw(_PARTS[kind], math.fsum(draw.value for draw in draws), step)] = weight
        for draw in draws:
            draw.used = True
        world.finishing.append(functools.partial(unseen, world, *draws))
    return _differences(world, noise)


_PARTS = {"gamma": "exponential", "polya": "geometric"}


def is_fresh(term: Term) -> bool:
    """Whether a term is noise of one draw that was not used yet, and may have a sign."""
    if term.raw or term.const or len(term.noise) != 1:
        return False
    draw = next(iter(term.noise))
    return draw.kind in _SIGNED and not draw.used and not draw.met


# What a law becomes with a random sign.
_SIGNED = {
    "exponential": "laplace",
    **{kind: kind for kind in ("laplace", "logistic", "normal", "cauchy", "hypsecant")},
}


def _sign_size(function: Callable[[Foreign], Foreign]) -> float:
    """The size of a function of a draw that is a number or its opposite, half of the time each; else 0."""
    values = np.broadcast_to(np.asarray(function(_HALVES), np.float64), _HALVES.shape)
    size = float(abs(values[0]))
    fits = np.array_equal(np.abs(values), np.full(len(values), size)) and values.sum() == 0
    fits = fits and all(abs(enclosures.chance_of(function, end) - 0.5) < 1e-9 for end in (size, -size))
    return size if fits and math.isfinite(size) else 0.0


def uniform(world: World, value: float, origin: Origin | None = None) -> UniformDraw:
    """A uniform draw."""
    return UniformDraw(DrawSource(world, float(value), origin), _itself)


def one_of(world: World, size: int, natural: int) -> int:
    """One of the first whole numbers, each as likely as the others."""
    return natural if world.oracle is None else world.oracle.choose([1 / size] * size, natural)


def proposed(world: World, order: Foreign) -> list[Foreign] | None:
    """An order of the first few whole numbers as proposals; None if it is of something else."""
    if isinstance(order, boxes.Box) and (order.ndim != 1 or order.kind != "i"):
        return None
    values = [*(order.data if isinstance(order, boxes.Box) else order)]
    if not all(type(value) in (int, np.int64) for value in values) or len(values) < 2:
        return None
    if sorted(values) != [*range(len(values))]:
        return None
    if world.oracle is not None:
        raise world.stop("an answer draws an order")
    source = accept_reject.Proposals(world, len(values), True)
    return [accept_reject.Pick(source, int(value)) for value in values]


def coin_of(world: World, chance: float, answer: bool) -> DrawnCoin:
    """A coin that shows this."""
    source = DrawSource(world, chance / 2 if answer else (1 + chance) / 2)
    return DrawnCoin(source, lambda u: u < chance, chance)


def sign_of(world: World, values: Foreign, index: int) -> Foreign:
    """One of two public numbers; a sign, if they are opposites."""
    if world.oracle is not None:
        return values[index]
    first, second = values[0], values[1]
    if (
        not all(isinstance(v, int | float | np.number) for v in (first, second))
        or first != -second
        or not first
    ):
        return values[index]
    return UniformDraw(DrawSource(world, (0.25, 0.75)[index]), lambda u: np.where(u < 0.5, first, second))


def signed(coin: DrawnCoin, one: Foreign, other: Foreign) -> Foreign:
    """One of two opposite numbers, or noise or its opposite, as a fair coin falls; None of anything else."""
    fair, source = coin.function, coin.source
    if coin._gone:
        return None
    if not any(nature(v) or is_term(v) or not isinstance(v, int | float | np.number) for v in (one, other)):
        if one != -other or not one or not math.isfinite(one):
            return None
        return UniformDraw(source, lambda u: np.where(fair(u), one, other))
    sign = UniformDraw(source, lambda u: np.where(fair(u), 1.0, -1.0))
    if is_term(one) and is_term(other) and is_fresh(one) and is_fresh(other):
        return sign._with(one, operator.mul) if {d: -w for d, w in one.noise.items()} == other.noise else None
    if type(one) is UniformDraw and type(other) is UniformDraw and one.source is other.source is not source:
        with np.errstate(all="ignore"):
            same = np.array_equal(one.function(_GRID), -np.asarray(other.function(_GRID)))
            same = same and enclosures.is_like(other.function, one.function, -1.0)
        return sign._with(one, operator.mul) if same and not one._gone else None
    return None


class Stretched(Product):
    """A uniform draw times a raw number that is positive: which part of a sum of weights it falls into.

    Parts of the sum that it is known to lie above may have been taken off.
    """

    stretches = True

    def __init__(self, base: UniformDraw, by: Foreign, less: Foreign = 0.0) -> None:
        super().__init__([(base, 1)])
        self.base, self.by, self.less = base, by, less

    @property
    def _gone(self) -> bool:
        return True

    def plain(self) -> Foreign:
        """The number itself: the draw is public from here on."""
        return subtract(multiply(self.base.plain(), self.by), self.less)

    term = plain

    def _with(
        self, other: Foreign, function: Callable[[Foreign, Foreign], Foreign], side: int = 1
    ) -> Foreign:
        other = number(other)
        constant = isinstance(other, int | float | np.number)
        if function is operator.sub and side and (constant or (type(other) is Term and not other.noise)):
            return Stretched(self.base, self.by, add(self.less, other))
        return super()._with(other, function, side)

    def _below(self, limit: Foreign) -> Foreign:
        return self.base < self.share(limit)

    def share(self, limit: Foreign) -> Foreign:
        """The chance that it is below `limit`."""
        return divide(plus(number(limit), self.less), self.by)


def opposite(value: Foreign) -> Foreign:
    """The opposite of a truth value or coin."""
    return value.turned() if type(value) is DrawnCoin else not value


class DrawnCoin(UniformDraw):
    """Whether a uniform draw lies in some set: public once it decides anything."""

    nature = "coin"
    kind = np.bool_

    def __init__(
        self, source: DrawSource, function: Callable[[Foreign], Foreign], chance: float | None = None
    ) -> None:
        super().__init__(source, function)
        self.chance = chance

    def plain(self) -> Foreign:
        """The answer, public from here on."""
        oracle = self.world.oracle
        if oracle is not None and not self.source.is_public:
            self.source.count()
            known = type(self.source.asked) in (tuple, type(None)) and self.source.oracle is oracle
            if self.chance is None or not known:
                raise self.world.stop("a coin is made in a way that its chance is not known")
            # What it was compared with before says where it lies.
            low, high = self.source.asked or (0.0, 1.0)
            below = bool(self.function(np.float64(0.0)))
            cut = min(max(self.chance if below else 1 - self.chance, low), high)
            share = (cut - low) / (high - low)
            is_low = bool(self.function(np.float64(self.source.value))) == below
            open_ = 0 < share < 1
            is_low = oracle.choose([share, 1 - share], int(not is_low)) == 0 if open_ else share == 1
            self.source.asked = (low, cut) if is_low else (cut, high)
            self.answer = is_low == below
        if oracle is not None:
            return np.bool_(self.answer)
        if not self.source.is_public and self.source.noise is None:
            natural = bool(self.function(np.float64(self.source.value)))
            other = _FINE[np.broadcast_to(self.function(_FINE), _FINE.shape) != natural]
            if other.size and not self.source.thins and self.world.chooser.answer(natural) != natural:
                self.source.value = self.world.chooser.one_of(other)
        else:
            self.world.chooser.opens()
        self.source.spend()
        return np.bool_(self.function(np.float64(self.source.value)))

    def term(self) -> Foreign:
        """The answer as a number."""
        return int(self.plain())

    def mixed(self, one: Foreign, other: Foreign) -> Foreign:
        """The one number or the other, as the coin falls; None if that is not followed.

        Where it falls for a public number a raw one does not count. Of two raw ones that follow from the same
        whole number the answer is told, at the price of its chances.
        """
        source, known = self.source, self.chance is not None and self.world.oracle is None
        if not known or source.is_public or (self._gone and not source.thins):
            return None
        raw = [v for v in (one, other) if is_term(v)]
        if raw:
            source.count()
        if len(raw) == 2:
            return None if source.thins else answers.told(self, one, other)
        if len(raw) != 1:
            return None
        coin, rest = (self, other) if is_term(one) else (self.turned(), one)
        made = coin.thinned(subtract(raw[0], rest))
        return None if made is None else add(made, rest)

    def thinned(self, term: Term) -> Foreign:
        """A raw number that is 0 where the coin is against it; None if its unit alone moves it less."""
        units = {unit: move for unit, move in moves_of(term.raw).items() if move != (0.0, 0.0)}
        low, high = term.range()
        low, high = min(low, 0.0), max(high, 0.0)
        unit, (least, most) = next(iter(units.items()), (-1, (0.0, 0.0)))
        if len(units) != 1 or isinstance(unit, Part) or not high - low <= max(-least, most) * (1 + 1e-9):
            return None
        self.source.thins.add(unit)
        counts, part = (bool(self.function(np.float64(u))) for u in (self.source.value, 0.0))
        key: Foreign = Part(unit, self.source, part, float(self.chance or 1.0))
        moves = {key: (low - high, high - low)}
        return opaque(term, term.value() if counts else 0.0, low, high, lambda: moves, term.whole)

    def turned(self) -> DrawnCoin:
        """The opposite."""
        own = self.function
        return DrawnCoin(self.source, lambda u: ~own(u), None if self.chance is None else 1 - self.chance)

    def __invert__(self) -> Foreign:
        return self.turned()

    def __and__(self, other: Foreign) -> Foreign:
        return bool(self.plain()) & other

    __rand__ = __and__

    def __or__(self, other: Foreign) -> Foreign:
        return bool(self.plain()) | other

    __ror__ = __or__

    def __xor__(self, other: Foreign) -> Foreign:
        found = self._turning(other)
        return bool(self.plain()) ^ other if found is None else found

    __rxor__ = __xor__
    __hash__ = UniformDraw.__hash__

    def __ne__(self, other: Foreign) -> Foreign:
        found = self._turning(other)
        return self.plain() != other if found is None else found

    def __eq__(self, other: Foreign) -> Foreign:
        found = self.turned()._turning(other)
        return self.plain() == other if found is None else found

    def _turning(self, other: Foreign) -> Foreign:
        """A raw bit that is turned if the coin says so, as an answer; None of anything else."""
        other = number(other)
        bit = is_term(other) and other.raw and not other.noise and other.whole and other.range() == (0.0, 1.0)
        return self.mixed(subtract(1, other), other) if bit else None

    def through(self, function: Callable[[Foreign], Foreign]) -> Foreign:
        """A function of the answer."""
        return function(float(self.plain()))


_HALVES = (np.arange(4096) + 0.5) / 4096
_FINE = np.concatenate([_HALVES, _GRID])  # with values that hardly ever come
_SORTED = np.unique(np.append(_FINE, [0.0, 1 - 2.0**-53]))


def _shows(function: Callable[[Foreign], Foreign], bound: float) -> bool:
    """Whether the values that are looked at show on which sides of a bound a function can be."""
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(function(_SORTED), np.float64), _SORTED.shape)
    below = values < bound
    if below.any() and not below.all():
        return True
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _itself(u: Foreign) -> Foreign:
    return u


_TOGETHER = 3  # coins of one draw that are looked at together with the next one


def _joint(
    coins: Sequence[Callable[[Foreign], Foreign]], way: Sequence[bool]
) -> Callable[[Foreign], Foreign]:
    """1 where coins fall in a way, 0 elsewhere."""
    return lambda u: math.prod(
        1.0 * coin(u) if bit else 1.0 - 1.0 * coin(u) for coin, bit in zip(coins, way, strict=True)
    )


def _is_rare(coins: Sequence[Callable[[Foreign], Foreign]]) -> bool:
    """Whether coins of one draw can fall together as at no value that is looked at."""
    with np.errstate(all="ignore"):
        falls = np.array([np.broadcast_to(each(_FINE), _FINE.shape) for each in coins], bool).T
    shown = {tuple(row) for row in np.unique(falls, axis=0).tolist()}
    ways = [way for way in itertools.product((False, True), repeat=len(coins)) if way not in shown]
    return any(not enclosures.chance_of(_joint(coins, way), 1.0) <= 0 for way in ways)


class DrawSource:
    """A uniform draw, and what of it was used.

    Attributes
    ----------
    world
        The run it belongs to.
    value
        In the run that is traced.
    is_public
        Whether it was shown.
    noise
        The function of it that was added to data, with the term that it became.
    state
        Chances between which it is known to lie, once it was compared with one.
    oracle, asked
        That was asked when it was drawn, and the raw number that it was compared with, or where it lies.
    thins
        Units of the data that count only where it falls for them.
    is_beyond
        Whether it came out above all chances.
    origin
        Where its number comes from; None if that is not one draw of a generator.
    """

    def __init__(self, world: World, value: float, origin: Origin | None = None) -> None:
        self.world, self.value, self.origin = world, value, origin
        self.is_public = self.taken = self.is_beyond = False
        self.noise: tuple[Foreign, Term | _Plane] | None = None
        self.state: list[Foreign] | None = None
        self.asked: Foreign = None
        self.oracle = world.oracle
        self.thins: set[Foreign] = set()
        self._shapes: set[Foreign] = set()
        self._coins: list[Callable[[Foreign], Foreign]] = []

    def shape(self, side: int | None) -> None:
        """Note where a public number, on which side of an operation, has a part in what becomes of it."""
        self._shapes.add(self.world.here(side))

    def tosses(self, coin: Callable[[Foreign], Foreign]) -> None:
        """Make one more coin of it; the bound ends if coins can fall together as at no value looked at."""
        self._coins = coins = [*self._coins[-_TOGETHER:], coin]
        if len(coins) > 1 and enclosures.known("rare", coins, 0.0, lambda: _is_rare(coins)):
            raise self.world.stop("coins of one draw may fall together as hardly ever")

    def count(self) -> None:
        """What has shaped it sets how much noise there is, as it meets the data."""
        self.world.scales |= self._shapes - {None}

    def through(self, function: Callable[[Foreign], Foreign], scale: float) -> Origin | None:
        """Where the number of noise comes from that is a function of it."""
        if self.origin is None:
            return None
        return replace(self.origin, through=function, uniform=self.value, scale=scale)

    def become_noise(self) -> None:
        """It is noise of a known law from here on."""
        self.taken = True
        self.count()

    @property
    def hidden(self) -> bool:
        """Whether nothing was seen of it but whether one unit counts."""
        return len(self.thins) == 1 and not self.is_public and self.state is None and self.noise is None

    @property
    def is_unused(self) -> bool:
        """Whether nothing has become of it."""
        return not (self.is_public or self.taken or self.thins or self.state or self.noise or self.asked)

    def spend(self) -> None:
        """Show it."""
        if self.world.oracle is not None:
            raise self.world.stop("a uniform draw is told by an answer")
        if self.state is not None:
            raise self.world.stop("a uniform draw that raw chances were compared with is used once more")
        if self.noise is not None:
            self.noise[1].settle()
        self.is_public = True

    def take(self) -> None:
        """Use it for one coin and nothing else."""
        if self.is_public or self.noise is not None or self.state is not None or self.thins:
            raise self.world.stop("a uniform draw that was used before is compared with raw chances")
        self.state = [0.0, 1.0]

    def below_chance(self, chance: Term) -> Foreign:
        """Whether it is below a chance that depends on the data: an outcome, which is paid for.

        What no price would do for stays raw, as a reward that is rounded to 0 or 1 by a coin does.
        """
        if self.is_public or self.noise is not None or self.thins:
            raise self.world.stop("a uniform draw that was used before is compared with raw chances")
        self.count()
        if self.world.oracle is not None:
            known = self.oracle is self.world.oracle and 0 <= chance.range()[0] <= chance.range()[1] <= 1
            if self.asked is not None or not known:
                raise self.world.stop("a coin is made in a way that its chance is not known")
            self.asked = chance
            chances = [chance, minus(1.0, chance)]
            return bool(self.world.oracle.choose(chances, int(self.value >= chance.value())) == 0)
        if self.state is None and tells_all(chance):
            # Both worlds draw the same number: given that, the answer is raw data that moves by 1 at most.
            self.is_public = True
            return above(chance, self.value, strict=True)
        if self.state is None:
            self.state = [0.0, None]
            self.world.finishing.append(self.finish)
        low, high = self.state
        if self.is_beyond:
            return False
        if high is not None:
            gap = minus(chance, high)
            if _positive(gap) if type(gap) is Term else gap >= 0:
                return True
            raise self.world.stop("a uniform draw is compared with raw chances in no order")
        natural = self.value < chance.value()
        if type(low) is Term and not _at_most_one(chance):
            raise self.world.stop("a uniform draw is compared with chances that may exceed 1")
        between = minus(chance, low)
        if not (type(between) is Term and _positive(between)):
            raise self.world.stop("a uniform draw is compared with raw chances that may not increase")
        certain = chance.ratio is not None and chance.ratio.is_one
        self.world.compare(certain=certain)
        if certain and self.world.chooser.rounds:
            self.is_beyond = self.world.beyond = True
            return False
        if certain or self.world.chooser.answer(natural):
            self.state[1] = chance
            outcome(self.world, between)
            return True
        self.state[0] = chance
        return False

    def rest_is(self, index: int) -> int:
        """It lies below 1: what is left of the chances is the last outcome."""
        if self.state is not None:
            self.finish()
            self.state[1] = 1.0
        return index

    def finish(self) -> None:
        """What is known of it when the run ends, if it lay above all chances."""
        if self.state is not None and self.state[1] is None and not self.is_beyond:
            rest = minus(1.0, self.state[0])
            if type(rest) is Term:
                outcome(self.world, rest)


def _positive(chance: Term) -> bool:
    return chance.ratio is not None or chance.range()[0] >= 0


def tells_all(chance: Term) -> bool:
    """Whether no price would do for a coin of this chance, as it may be 0 or 1 on neighbouring data."""
    moves = (*log_moves(chance).values(), *log_moves(minus(1.0, chance)).values())
    return any(math.isinf(end) for move in moves for end in move)


def _at_most_one(chance: Term) -> bool:
    return chance.range()[1] <= 1 + 1e-9 or (chance.ratio is not None and chance.ratio.is_part)


@functools.lru_cache(maxsize=1024)
def _is_line(function: Callable[[Foreign], Foreign]) -> bool:
    """Whether a function of a uniform draw is a straight line."""
    try:
        values = np.broadcast_to(np.asarray(function(_FINE), np.float64), _FINE.shape)
    except (TypeError, ValueError):
        return False
    slope = 2 * (values[3072] - values[1024])
    gaps = np.abs(values - values[1024] - slope * (_FINE - _FINE[1024]))
    fits = slope != 0 and (gaps <= 1e-12 * (abs(slope) + np.abs(values))).all()
    return bool(fits) and enclosures.is_like(function, _itself, float(slope))


def _turned(quantile: Callable[[Foreign], Foreign], sign: float, above: bool) -> Callable[[Foreign], Foreign]:
    return lambda u: sign * quantile(1 - u if above else u)


@functools.cache
def _laws() -> list[tuple[str, float, Foreign, Callable[[Foreign], Foreign]]]:
    """Kind, sign and values of the laws at scale 1, and the function that gives them."""
    # Those without a sign are symmetric: with the other sign they are their own laws at 1 - u.
    laws = [
        (kind, sign, _turned(quantile, sign, above))
        for kind, quantile in _QUANTILES.items()
        for above in (False, True)
        for sign in ((1.0, -1.0) if kind in ("exponential", "gumbel") else (1.0,))
    ]
    return [(kind, sign, law(_GRID), law) for kind, sign, law in laws]


@functools.lru_cache(maxsize=4096)
def _law_of(function: Callable[[Foreign], Foreign]) -> tuple[str, float, float] | None:
    """Kind, center and scale of a function of a uniform draw; None if unknown.

    It is recognised at 3801 of its values, and then enclosed in between. Clipped or rounded noise has another
    law, and so do functions that bend where a law does not.
    """
    with np.errstate(all="ignore"):
        try:
            values = np.broadcast_to(np.asarray(function(_GRID), np.float64), _GRID.shape)
        except (TypeError, ValueError):
            return None
        if not np.isfinite(values).all():
            return None
        for kind, sign, law, rising in _laws():
            scale = (values[1200] - values[800]) / (law[1200] - law[800])
            center = values[1000] - scale * law[1000]
            if not scale > 0 or abs(center + scale * law[2000] - values[2000]) > 1e-6 * (scale + abs(center)):
                continue
            size = np.abs(values) + np.abs(center) + np.abs(scale)
            # What rounding does to 1 - u, and a logarithm or a tangent to that.
            rounding = 1e-15 / np.minimum(_GRID, 1 - _GRID) * (size if kind == "cauchy" else scale)
            if (np.abs(center + scale * law - values) <= 1e-9 * size + rounding).all():
                if not enclosures.is_like(function, rising, float(scale)):
                    return None
                center = 0.0 if abs(center) <= 1e-9 * scale else float(center)
                return kind, center, sign * float(scale)
    return None


# ---------------------------------------------------------------- the generator

_PUBLIC = (
    *("beta", "poisson", "dirichlet"),
    *("chisquare", "lognormal", "triangular", "multivariate_normal", "permuted"),
    *("hypergeometric", "pareto", "weibull", "rayleigh", "vonmises", "wald", "zipf", "power", "logseries"),
    *("f", "noncentral_chisquare", "noncentral_f", "multivariate_hypergeometric", "bytes", "binomial"),
    "shuffle",
)


# Laws of public draws, with the number of their parameters.
_PARAMETERS = {
    **dict.fromkeys(
        ("standard_t", "chisquare", "poisson", "pareto", "weibull", "rayleigh", "zipf", "power"), 1
    ),
    **dict.fromkeys(("beta", "lognormal", "vonmises", "wald", "f", "noncentral_chisquare", "binomial"), 2),
    **dict.fromkeys(("hypergeometric", "triangular", "noncentral_f"), 3),
    "logseries": 1,
    "integers": 2,
}


_ENDLESS = ("poisson", "zipf", "logseries")
_UNTRIED = 1 << 62  # values of a draw of which none is looked at on purpose
_SINGLE = (np.float32, np.dtype(np.float32), "float32", "single", "f", "f4")


class FollowedGenerator(np.random.Generator):
    """Stands in for the user's generator."""

    world: World
    stream: int

    def own_stream(self) -> np.random.Generator:
        """The numbers themselves: what draws from it is followed elsewhere."""
        return np.random.Generator(np.random.Generator.bit_generator.__get__(self))

    @classmethod
    def of(cls, bits: Foreign, world: World, stream: int = -1) -> FollowedGenerator:
        """Follow the draws from `bits`; a replay knows the streams that have a number."""
        made = cls(bits)
        made.world, made.stream = world, stream
        world.generators.append(bits)
        return made

    @property
    def bit_generator(self) -> Foreign:
        """As numpy's: a state that can be set again makes the same noise twice."""
        raise self.world.stop("the state of the generator is used")

    _bit_generator = bit_generator

    def spawn(self, n_children: int) -> Foreign:
        """As numpy's."""
        bits = np.random.Generator.bit_generator.__get__(self)
        return [FollowedGenerator.of(b, self.world) for b in bits.spawn(n_children)]

    def __reduce__(self) -> Foreign:
        raise self.world.stop("the generator is copied")

    def __deepcopy__(self, memo: Foreign) -> Foreign:
        raise self.world.stop("the generator is copied")

    __copy__ = __reduce__
    __getstate__ = __reduce__

    def _public(self, value: Foreign, what: str = "raw {data} set the law of a draw") -> Foreign:
        return boxes.plain(self.world, value, what)

    def _noise(
        self,
        kind: str,
        loc: Foreign,
        scale: Foreign,
        drawn: Foreign,
        step: Foreign = 0.0,
        shape: Foreign = 1.0,
    ) -> Foreign:
        """Draws at a scale, around `loc`."""
        self.world.scaled(int(kind in _AROUND))
        values, scales = np.asarray(drawn, np.float64), np.broadcast_to(scale, np.shape(drawn))
        each = zip(
            *(np.broadcast_to(v, values.shape).ravel().tolist() for v in (values, scales, step, shape)),
            self._origins(values),
            strict=True,
        )
        flat = [self._draw(kind, *one) for one in each]
        made = flat[0] if not values.ndim else boxes.Box.of(self.world, boxes.objects(flat, values.shape))
        zero = not isinstance(loc, boxes.Box | Term) and np.ndim(loc) == 0 and loc == 0
        return made if zero else made + loc

    def _origins(self, drawn: Foreign) -> list[Origin | None]:
        """Of what was drawn just now."""
        size = int(np.size(drawn))
        if self.stream < 0:
            return [None] * size
        at = position(np.random.Generator.bit_generator.__get__(self))
        return [Origin((self.stream, at, i)) for i in range(size)]

    def _draw(
        self, kind: str, value: float, scale: float, step: float, shape: float, origin: Origin | None
    ) -> Foreign:
        if scale == 0:
            return np.float64(value)
        if not (scale > 0 and math.isfinite(scale)):
            raise self.world.stop("noise has a scale that is not a positive number")
        if kind == "normal" and self.world.normals is None:
            self.world.normals = functools.partial(_product, self.world)
        origin = None if origin is None else replace(origin, scale=scale)
        draw = SymbolicDraw(kind, value / scale, step, shape=shape, origin=origin)
        if kind == "exponential":
            self.world.pooling = functools.partial(_pooled, self.world)
        if kind in ("geometric", "polya"):
            return geometric(self.world, draw)
        return Term(self.world, 0.0, {}, {draw: scale})

    def _whole(self, args: Foreign, kwargs: Foreign) -> None:
        """Refuse noise with few digits: it takes few values, and ends early."""
        for value in (*args, *kwargs.values()):
            kind = value.dtype if isinstance(value, np.ndarray) else value
            if isinstance(kind, type | np.dtype | str) and kind in _SINGLE:
                raise self.world.stop("noise is drawn with fewer digits than a float has")

    def _centred(self, kind: str, loc: Foreign, scale: Foreign, size: Foreign) -> Foreign:
        scale = self._public(scale, "raw {data} set the scale of noise")
        loc = number(loc)
        shape = np.shape(loc) if not isinstance(loc, Term) else ()
        draw = getattr(np.random.Generator, kind)
        drawn = draw(self, np.zeros(shape) if shape else 0.0, scale, self._size(size))
        return self._noise(kind, loc, scale, drawn)

    def _size(self, size: Foreign) -> Foreign:
        if isinstance(size, tuple | list):
            return tuple(operator.index(n) for n in size)
        return None if size is None else operator.index(self._public(size))

    def exponential(self, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        scale = self._public(scale, "raw {data} set the scale of noise")
        return self._noise("exponential", 0.0, scale, super().exponential(scale, self._size(size)))

    def standard_t(self, df: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        df = self._public(df)
        return self._noise("student", 0.0, 1.0, super().standard_t(df, self._size(size)), df)

    def gamma(self, shape: Foreign, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        shape, scale = self._public(shape), self._public(scale, "raw {data} set the scale of noise")
        self.world.pooling = functools.partial(_pooled, self.world)
        drawn = super().gamma(shape, scale, self._size(size))
        return self._noise("gamma", 0.0, scale, drawn, shape=shape)

    def negative_binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        n, p = self._public(n), self._public(p)
        self.world.pooling = functools.partial(_pooled, self.world)
        drawn = super().negative_binomial(n, p, self._size(size))
        return self._noise("polya", 0.0, 1.0, drawn, _step(p), n)

    def standard_gamma(
        self, shape: Foreign, size: Foreign = None, *args: Foreign, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's."""
        self._whole(args, kwargs)
        shape = self._public(shape)
        self.world.pooling = functools.partial(_pooled, self.world)
        drawn = super().standard_gamma(shape, self._size(size), *args, **kwargs)
        return self._noise("gamma", 0.0, 1.0, drawn, shape=shape)

    def geometric(self, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        p = self._public(p)
        return self._noise("geometric", 0.0, 1.0, super().geometric(p, self._size(size)), _step(p))

    def random(self, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        self._whole(args, kwargs)
        drawn: Foreign = super().random(self._size(size), *args, **kwargs)
        origins = self._origins(drawn)
        if size is None:
            return uniform(self.world, drawn, origins[0])
        flat = [uniform(self.world, *each) for each in zip(drawn.ravel(), origins, strict=True)]
        return boxes.Box.of(self.world, boxes.objects(flat, drawn.shape))

    def uniform(self, low: Foreign = 0.0, high: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        low, high = self._public(low), self._public(high)
        if np.ndim(low) or np.ndim(high):
            self.world.chooser.opens()
            self.world.widely(_UNTRIED)
            return boxes.wrapped(self.world, super().uniform(low, high, self._size(size)))
        # The same stream: numpy computes low + (high - low) u.
        drawn = self.random(size)
        return drawn if (low, high) == (0, 1) else drawn * (high - low) + low

    def choice(  # type: ignore[override]
        self, a: Foreign, size: Foreign = None, replace: bool = True, p: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's; what is drawn with raw chances is paid for."""
        if p is None or not boxes.has_terms(p):
            self.world.chooser.opens()
            a, p = (a if np.ndim(a) else self._public(a)), self._public(p)
            many = len(a) if np.ndim(a) else a
            if self.world.oracle is not None:
                if p is not None or size is not None or kwargs:
                    raise self.world.stop("several outcomes are drawn for an answer")
                # The same stream, without numpy's call of `integers`, which would be asked for.
                index = one_of(self.world, int(many), int(np.random.Generator.integers(self, 0, many)))
                return a[index] if np.ndim(a) else index
            index = super().choice(many, self._size(size), replace, p, **kwargs)
            if np.ndim(index) == 1 and not replace and p is None and self.world.oracle is None:
                return self._drawn(a, index, many)
            if not np.ndim(index):
                index = self.world.chooser.seldom(index, lambda: _possible(a, p))
            elif replace:
                index = self.world.chooser.several(index, lambda: _possible(a, p))
            else:
                self.world.widely(_UNTRIED)
            if p is None and replace and np.shape(a) == (2,) and not boxes.has_own(a):
                signs = [sign_of(self.world, a, int(i)) for i in np.ravel(index)]
                return (
                    boxes.Box.of(self.world, boxes.objects(signs, np.shape(index)))
                    if np.ndim(index)
                    else signs[0]
                )
            index = boxes.wrapped(self.world, index)
            return index if not np.ndim(a) else boxes.taken(self.world, a, index)
        if kwargs or (size is not None and not replace):
            raise self.world.stop("outcomes with raw chances are drawn without replacement")
        chances, values = self._chances(p)
        drawn = super().choice(len(chances), self._size(size), p=values / values.sum())
        flat = [paid_for(self.world, chances, int(i)) for i in np.ravel(drawn)]
        if size is None:
            return flat[0] if np.ndim(a) == 0 else boxes.taken(self.world, a, flat[0])
        several = np.array(flat, np.int64).reshape(np.shape(drawn))
        return several if np.ndim(a) == 0 else boxes.taken(self.world, a, several)

    def _drawn(self, a: Foreign, index: Foreign, many: int) -> Foreign:
        """What stands at positions that were drawn without replacement; see `subsets`."""
        self.world.chooser.opens()
        rest = np.setdiff1d(np.arange(many), index)
        public = functools.partial(boxes.wrapped, self.world, index)
        subsets = self.world.subsets
        found = subsets.Subset(subsets.Drawing(self.world, np.append(index, rest), public), len(index))
        return boxes.taken(self.world, a, found) if np.ndim(a) else found

    def _chances(self, p: Foreign) -> tuple[list[Foreign], FloatArray]:
        """Chances that add up to 1, with their values."""
        chances = [number(chance) for chance in boxes.entries(self.world, p)]
        whole = functools.reduce(add, chances)
        one = is_term(whole) and whole.ratio is not None and whole.ratio.is_one
        if not one and not (is_term(whole) and _is_constant(whole)):
            raise self.world.stop_raw("raw {data} set chances that are not known to add up to 1")
        return chances, np.array([c.value() if is_term(c) else float(c) for c in chances])

    def multinomial(self, n: Foreign, pvals: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's; one outcome with raw chances is paid for."""
        if size is not None or not boxes.has_terms(pvals) or self._public(n) != 1:
            return self._coins("multinomial", (n, pvals, size), {})
        chances, values = self._chances(pvals)
        drawn = paid_for(self.world, chances, int(np.argmax(super().multinomial(1, values))))
        return boxes.wrapped(self.world, np.eye(len(chances), dtype=np.int64)[drawn])

    def integers(
        self, low: Foreign, high: Foreign = None, size: Foreign = None, *args: Foreign, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's; one of the first few whole numbers may be a proposal."""
        made = self._coins("integers", (low, high, size, *args), kwargs)
        first, end = (0, low) if high is None else (low, high)
        if type(first) is type(end) is int:
            self.world.widely(end - first)
        if self.world.oracle is not None:
            if size is not None or args or {*kwargs} - {"endpoint"} or not {type(first), type(end)} <= {int}:
                raise self.world.stop("whole numbers are drawn in a way that is not followed")
            many = end - first + bool(kwargs.get("endpoint"))
            return first + one_of(self.world, many, int(made) - first)
        if (
            size is None
            and not args
            and not kwargs
            and type(end) is int
            and type(first) is int
            and first == 0
        ):
            known = self.world.proposals.get(end)
            if known is None or known.done:
                known = self.world.proposals[end] = accept_reject.Proposals(self.world, end, False)
            return accept_reject.Pick(known, int(self.world.chooser.seldom(int(made), lambda: (0, end - 1))))
        return made

    def permutation(self, x: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's; one of the first few whole numbers is an order of proposals."""
        if boxes.has_terms(x):
            raise self.world.stop_raw("raw {data} are shuffled")
        made = self._coins("permutation", (x, *args), kwargs)
        order = proposed(self.world, made) if type(made) is boxes.Box else None
        return made if order is None else boxes.Box(self.world, boxes.objects(order, made.shape), "i")

    def binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's; one coin with a raw chance is paid for."""
        p = number(p)
        if not is_term(p) and np.ndim(p) == 0 and np.ndim(n) == 0 and n == 1 and 0 < p < 1:
            drawn = np.asarray(super().binomial(1, float(p), self._size(size)))
            coins = [coin_of(self.world, float(p), bool(bit)) for bit in drawn.ravel()]
            if size is None:
                return coins[0]
            return boxes.Box(self.world, boxes.objects(coins, drawn.shape), "i")
        if not (size is None and is_term(p) and not isinstance(n, boxes.Box | Term) and n == 1):
            return self._coins("binomial", (n, p, size), {})
        if p.noise:
            return self._coins("binomial", (n, p.settle(), size), {})
        natural = bool(super().binomial(1, min(max(p.value(), 0.0), 1.0)))
        if tells_all(p) and self.world.oracle is None:
            return indicator(p, natural)  # as a coin that shows whether a uniform draw is below it
        answer = self.world.chooser.answer(natural)
        outcome(self.world, p if answer else minus(1.0, p))
        return int(answer)

    def _coins(self, name: str, args: Foreign, kwargs: Foreign) -> Foreign:
        args = [self._public(value) for value in args]
        kwargs = {key: self._public(value) for key, value in kwargs.items()}
        self.world.chooser.opens()
        made = getattr(np.random.Generator, name)(self, *args, **kwargs)
        if np.asarray(made).dtype.kind == "f" or name in _ENDLESS:
            self.world.widely(_UNTRIED)  # its ends, if it has any, are never reached
        if name == "permutation" and np.ndim(made) == 1 and made.dtype.kind in "fiu":
            return boxes.wrapped(self.world, self.world.chooser.order(made))
        if name in _PARAMETERS and not np.ndim(made) and self.world.oracle is None:
            made = self.world.chooser.seldom(made, lambda: self._ends(name, args, kwargs))
        elif name in _PARAMETERS and np.size(made) and not any(map(np.ndim, args[: _PARAMETERS[name]])):
            made = self.world.chooser.several(made, lambda: self._ends(name, args, kwargs))
        elif np.size(made):
            self.world.widely(_UNTRIED)  # no path has its ends
        return boxes.wrapped(self.world, made)

    def _ends(self, name: str, args: list[Foreign], kwargs: dict[str, Foreign]) -> tuple[Foreign, Foreign]:
        """About the smallest and the largest value of a public draw."""
        kwargs = {key: value for key, value in kwargs.items() if key != "size"}
        given = args[: _PARAMETERS[name]]

        def draw(rng: np.random.Generator, size: int) -> Foreign:
            return getattr(rng, name)(*given, **kwargs, size=size)

        least, most = self.world.chooser.ends(draw)
        if name == "binomial" and len(given) == 2 and 0 < given[1] < 1:
            return type(least)(0), type(most)(given[0])
        return least, most + 1 if name == "poisson" and given != [0] else most


def _step(p: Foreign) -> Foreign:
    """What a step costs where chances fall by 1 - p."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.asarray(p, np.float64))


def _possible(a: Foreign, p: Foreign) -> Sequence[int]:
    """Positions of an outcome with public chances: the least likely one, the first and last, and the ends.

    A tuple if all in between are possible, too.
    """
    size = len(a) if np.ndim(a) else int(a)
    chances = np.ones(size) if p is None else np.asarray(p, np.float64)
    possible = np.flatnonzero(chances > 0)
    found = [int(possible[0]), int(possible[-1]), int(possible[np.argmin(chances[possible])])]
    if np.ndim(a) == 1 and not boxes.has_terms(a) and np.asarray(a).dtype.kind in "fiub":
        order = possible[np.argsort(np.asarray(a)[possible])]
        found += [int(order[0]), int(order[-1])]
    return tuple(found) if p is None else found


def paid_for(world: World, chances: list[Foreign], natural: int) -> int:
    """One of several outcomes with raw chances, which is paid for."""
    values = [c.value() if is_term(c) else float(c) for c in chances]
    drawn = int(world.chooser.winner(natural, [i for i, value in enumerate(values) if value > 0]))
    outcome(world, chances[drawn])
    return drawn


def _is_constant(term: Term) -> bool:
    """Whether whatever it is made of cancels."""
    return all(abs(weight) < 1e-9 for weight in term.raw.values()) and abs(term.const - 1) < 1e-6


def _around(kind: str) -> Foreign:
    def draw(
        self: FollowedGenerator, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None
    ) -> Foreign:
        """As numpy's."""
        return self._centred(kind, loc, scale, size)

    return draw


def _standard(kind: str) -> Foreign:
    def draw(self: FollowedGenerator, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        self._whole(args, kwargs)
        drawn = getattr(np.random.Generator, f"standard_{kind}")(self, self._size(size), *args, **kwargs)
        return self._noise(kind, 0.0, 1.0, drawn)

    return draw


_AROUND = ("laplace", "normal", "gumbel", "logistic")  # laws with a place, which comes first
for _name in _AROUND:
    setattr(FollowedGenerator, _name, _around(_name))
for _name in ("normal", "exponential", "cauchy"):
    setattr(FollowedGenerator, f"standard_{_name}", _standard(_name))


def _coin(name: str) -> Foreign:
    def draw(self: FollowedGenerator, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        if name in ("shuffle", "permutation", "permuted") and args and boxes.has_terms(args[0]):
            raise self.world.stop_raw("raw {data} are shuffled")
        if name == "shuffle" and isinstance(args[0], boxes.Box | list):
            order = self.world.chooser.order(np.random.Generator.permutation(self, len(args[0])))
            if self.world.oracle is not None:
                raise self.world.stop("an answer draws an order")
            kept = args[0].copy() if isinstance(args[0], boxes.Box) else list(args[0])
            for i, j in enumerate(order.tolist()):
                args[0][i] = kept[j]
            found = proposed(self.world, args[0])
            if found is not None:
                place: Foreign = args[0].data if type(args[0]) is boxes.Box else args[0]
                place[:] = found
            return None
        return self._coins(name, args, kwargs)

    draw.__name__, draw.__doc__ = name, "As numpy's; a coin."
    return draw


def _bare(name: str) -> Foreign:
    followed = getattr(FollowedGenerator, name)

    @functools.wraps(followed)
    def draw(self: FollowedGenerator, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        if self.world.bare:
            self.world.chooser.opens()
            return getattr(self.own_stream(), name)(*args, **kwargs)
        return followed(self, *args, **kwargs)

    return draw


def _opening(name: str) -> Foreign:
    followed = getattr(FollowedGenerator, name)

    @functools.wraps(followed)
    def draw(self: FollowedGenerator, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        self.world.chooser.opens()
        return followed(self, *args, **kwargs)

    return draw


# What every draw of these may be is asked of the chooser, or stands for any number.
_ASKED = frozenset(
    (
        *("laplace", "normal", "gumbel", "logistic", "exponential", "standard_normal", "standard_t"),
        *("standard_exponential", "standard_cauchy", "gamma", "standard_gamma", "negative_binomial"),
        *("geometric", "random", "uniform", "choice", "multinomial", "binomial", "bit_generator"),
    )
)
for _name in ("random", "uniform", "geometric", "integers", "choice", "binomial"):
    setattr(FollowedGenerator, _name, _bare(_name))
for _name in _PUBLIC:
    if hasattr(np.random.Generator, _name) and _name != "binomial":
        setattr(FollowedGenerator, _name, _coin(_name))
for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in _ASKED and callable(getattr(FollowedGenerator, _name)):
        setattr(FollowedGenerator, _name, _opening(_name))
