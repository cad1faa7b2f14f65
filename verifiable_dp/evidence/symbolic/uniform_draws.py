"""Functions of uniform draws: coins if compared, noise if added; and their products."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verifiable_dp.core.validate import NUMBERS_OR_BITS, PLAIN_NUMBERS, Foreign
from verifiable_dp.evidence.symbolic import accept_reject, answers, boxes, elementwise, enclosures
from verifiable_dp.evidence.symbolic.adding import add, plus, subtract, total
from verifiable_dp.evidence.symbolic.atoms import Part, SymbolicDraw, moves_of
from verifiable_dp.evidence.symbolic.comparing import above
from verifiable_dp.evidence.symbolic.draw_sources import (
    FINE,
    SIGNS,
    DrawSource,
    Plane,
    is_line,
    itself,
    law_of,
    shows,
)
from verifiable_dp.evidence.symbolic.multiplying import divide, multiply, opaque
from verifiable_dp.evidence.symbolic.pooled_noise import SIGNED, geometric, is_fresh, pooled, sign_size
from verifiable_dp.evidence.symbolic.terms import Lazy, Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World, unseen


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
        found = law_of(self.function)
        if found is None:
            return self.plain()
        kind, center, scale = found
        if kind == "exponential":
            self.world.pooling = functools.partial(pooled, self.world)
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
            kind, center, scale = law_of(own) or ("", 0.0, 0.0)
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
        if isinstance(other, UniformDraw) and function in SIGNS and not self._gone and not other._gone:
            return Product([*self.factors, *((f, SIGNS[function] * by) for f, by in other.factors)])
        if type(other) in (UniformDraw, Product, DrawnCoin, accept_reject.Pick, accept_reject.Veiled):
            other = elementwise.ordinary(other)
        other = number(other)
        if type(other) is Term:
            if type(self) is DrawnCoin and function is operator.mul and not other.noise:
                mixed = self.mixed(other, 0)
                if mixed is not None:
                    return mixed
            if function is operator.mul and not self._gone and is_fresh(other) and sign_size(self.function):
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
        if isinstance(other, NUMBERS_OR_BITS):
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
        made = Term(self.world, 0.0, {}, {SymbolicDraw(SIGNED[draw.kind], value): size})
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
                made = None if self.is_bare or is_line(self.function) else self.term()
                if type(made) is Term and made.noise:
                    return above(limit, made, strict=True)
                limit = limit.settle()
            elif limit.raw:
                return self.source.below_chance(limit) if self.is_bare else self.plain() < limit
        if not isinstance(limit, PLAIN_NUMBERS):
            return NotImplemented
        own, bound = self.function, float(limit)
        certain = self.is_bare and not 0 < bound < 1
        self.world.compare(certain=certain, public=True)
        if certain:
            return np.bool_(bound >= 1)
        self.source.shape(None)
        if self.source.is_public or self.source.state is not None:
            return bool(self.plain() < bound)
        if not self.is_bare and not shows(own, bound):
            raise self.world.stop("a coin toss may give another result for a few draws")
        self.source.tosses(lambda u: own(u) < bound)
        return DrawnCoin(
            self.source, lambda u: own(u) < bound, min(max(bound, 0.0), 1.0) if self.is_bare else None
        )

    @property
    def is_bare(self) -> bool:
        """Whether it is the draw itself."""
        return self.function is itself

    def __lt__(self, other: Foreign) -> Foreign:
        return self._below(other)

    __le__ = __lt__

    def __gt__(self, other: Foreign) -> Foreign:
        found = self._below(other)
        return found if found is NotImplemented else opposite(found)

    __ge__ = __gt__

    def __eq__(self, other: Foreign) -> Foreign:
        known = isinstance(other, PLAIN_NUMBERS) and not nature(other) and not self.source.is_public
        if known and type(self) is UniformDraw and (is_line(self.function) or law_of(self.function)):
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


def _ordered(
    function: Callable[[Foreign, Foreign], Foreign], mine: Foreign, other: Foreign, side: int
) -> Foreign:
    return function(mine, other) if side else function(other, mine)


class Product(UniformDraw):
    """A product or quotient of functions of several uniform draws: its logarithm is a sum of noise."""

    def __init__(self, factors: list[tuple[UniformDraw, int]]) -> None:
        super().__init__(DrawSource(factors[0][0].world, 0.0), itself)  # no draw's own
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
            size, law = sign_size(one.function), law_of(other.function)
            if size and law is not None and law[1] == 0 and law[0] in SIGNED:
                value = float(one.function(one.source.value) * other.function(np.float64(other.source.value)))
                scale = size * abs(law[2])
                self.made = Term(self.world, 0.0, {}, {SymbolicDraw(SIGNED[law[0]], value / scale): scale})
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
        if function in SIGNS and isinstance(other, UniformDraw) and type(other) is not DrawnCoin:
            return super()._with(other, function, side)
        return _ordered(function, self.term(), elementwise.ordinary(other), side)

    def _below(self, limit: Foreign) -> Foreign:
        return self.plain() < elementwise.ordinary(limit)


def _component(product: Product) -> Term | None:
    """The normal draw that Box and Muller's product of a size and the sine or cosine of an angle is."""
    for (one, _), (other, _) in itertools.permutations(product.factors):
        scale, axis = _rayleigh(one.function), _axis(other.function)
        if not scale or axis is None or one.source is other.source:
            continue
        first = one.source.noise[1] if one.source.noise is not None else None
        if first is None and (one._gone or other._gone):
            return None
        if isinstance(first, Plane):
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
            one.source.noise = other.source.noise = (product, Plane(unit, made))
            one.source.count()
            other.source.count()
        return made
    return None


@functools.lru_cache(maxsize=256)
def _rayleigh(function: Callable[[Foreign], Foreign]) -> float:
    """The scale of a function of a draw that has Rayleigh's law, up to signs; else 0."""
    kind, center, scale = law_of(lambda u: np.square(function(u))) or ("", 0.0, 0.0)
    return math.sqrt(scale / 2) if kind == "exponential" and center == 0 and scale > 0 else 0.0


@functools.lru_cache(maxsize=256)
def _axis(function: Callable[[Foreign], Foreign]) -> tuple[float, float] | None:
    """`a` and `b` of a function a cos(2 pi u) + b sin(2 pi u) of a draw; None of any other."""
    try:
        values = np.broadcast_to(np.asarray(function(FINE), np.float64), FINE.shape)
        a, b = (float(function(np.float64(u))) for u in (0.0, 0.25))
    except (TypeError, ValueError):
        return None
    gaps = np.abs(a * np.cos(2 * np.pi * FINE) + b * np.sin(2 * np.pi * FINE) - values)
    if not math.hypot(a, b) > 0 or (gaps > 1e-9 * math.hypot(a, b)).any():
        return None
    turns = enclosures.is_like(function, lambda u: a * np.cos(2 * np.pi * u) + b * np.sin(2 * np.pi * u), 1.0)
    return (a, b) if turns else None


def product_of(world: World, left: Term, right: Term) -> Foreign:
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
    world.pooling = functools.partial(pooled, world)
    made = SymbolicDraw("square" if one is other else "product", one.value * other.value)
    return Term(world, 0.0, {}, {made: mine * theirs})


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
        constant = isinstance(other, PLAIN_NUMBERS)
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
                raise self.world.stop("a coin is tossed in a way that leaves its probability unknown")
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
            other = FINE[np.broadcast_to(self.function(FINE), FINE.shape) != natural]
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
