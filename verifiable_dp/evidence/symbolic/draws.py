"""A generator whose draws are followed: noise of known law, coins, and uniform draws that may become either.

The stream of numbers is that of the generator it stands in for. Draws from any other source count as public
numbers, which hide nothing.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from verifiable_dp.core.validate import PLAIN_NUMBERS, FloatArray, Foreign
from verifiable_dp.evidence.judge.replay import position
from verifiable_dp.evidence.symbolic import accept_reject, boxes, enclosures
from verifiable_dp.evidence.symbolic.adding import add, minus
from verifiable_dp.evidence.symbolic.atoms import Origin, SymbolicDraw
from verifiable_dp.evidence.symbolic.chances import outcome
from verifiable_dp.evidence.symbolic.comparing import indicator
from verifiable_dp.evidence.symbolic.draw_sources import GRID, DrawSource, itself, tells_all
from verifiable_dp.evidence.symbolic.ends import SETS_SCALE
from verifiable_dp.evidence.symbolic.pooled_noise import geometric, is_fresh, pooled
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.uniform_draws import DrawnCoin, UniformDraw, product_of
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.generator import AROUND, around, undefined


def uniform(world: World, value: float, origin: Origin | None = None) -> UniformDraw:
    """A uniform draw."""
    return UniformDraw(DrawSource(world, float(value), origin), itself)


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
        raise world.stop("a randomised answer draws a random order")
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
    if not all(isinstance(v, PLAIN_NUMBERS) for v in (first, second)) or first != -second or not first:
        return values[index]
    return UniformDraw(DrawSource(world, (0.25, 0.75)[index]), lambda u: np.where(u < 0.5, first, second))


def signed(coin: DrawnCoin, one: Foreign, other: Foreign) -> Foreign:
    """One of two opposite numbers, or noise or its opposite, as a fair coin falls; None of anything else."""
    fair, source = coin.function, coin.source
    if coin._gone:
        return None
    if not any(nature(v) or is_term(v) or not isinstance(v, PLAIN_NUMBERS) for v in (one, other)):
        if one != -other or not one or not math.isfinite(one):
            return None
        return UniformDraw(source, lambda u: np.where(fair(u), one, other))
    sign = UniformDraw(source, lambda u: np.where(fair(u), 1.0, -1.0))
    if is_term(one) and is_term(other) and is_fresh(one) and is_fresh(other):
        return sign._with(one, operator.mul) if {d: -w for d, w in one.noise.items()} == other.noise else None
    if type(one) is UniformDraw and type(other) is UniformDraw and one.source is other.source is not source:
        with np.errstate(all="ignore"):
            same = np.array_equal(one.function(GRID), -np.asarray(other.function(GRID)))
            same = same and enclosures.is_like(other.function, one.function, -1.0)
        return sign._with(one, operator.mul) if same and not one._gone else None
    return None


# ---------------------------------------------------------------- the generator

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
        raise self.world.stop("the code uses the state of the generator")

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

    def _public(self, value: Foreign, what: str = "raw {data} set the distribution of a draw") -> Foreign:
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
        values, scales = np.asarray(drawn, np.float64), np.broadcast_to(scale, np.shape(drawn))
        each = zip(
            *(np.broadcast_to(v, values.shape).ravel().tolist() for v in (values, scales, step, shape)),
            self._origins(values),
            strict=True,
        )
        flat = [self._draw(kind, *one) for one in each]
        noise = [draw for one in flat if is_term(one) for draw in one.noise]
        self.world.scaled(int(kind in AROUND), noise=noise)
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
            self.world.normals = functools.partial(product_of, self.world)
        origin = None if origin is None else replace(origin, scale=scale)
        draw = SymbolicDraw(kind, value / scale, step, shape=shape, origin=origin)
        if kind == "exponential":
            self.world.pooling = functools.partial(pooled, self.world)
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
        scale = self._public(scale, SETS_SCALE)
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
        scale = self._public(scale, SETS_SCALE)
        return self._noise("exponential", 0.0, scale, super().exponential(scale, self._size(size)))

    def standard_t(self, df: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        df = self._public(df)
        return self._noise("student", 0.0, 1.0, super().standard_t(df, self._size(size)), df)

    def gamma(self, shape: Foreign, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        shape, scale = self._public(shape), self._public(scale, SETS_SCALE)
        self.world.pooling = functools.partial(pooled, self.world)
        drawn = super().gamma(shape, scale, self._size(size))
        return self._noise("gamma", 0.0, scale, drawn, shape=shape)

    def negative_binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        n, p = self._public(n), self._public(p)
        self.world.pooling = functools.partial(pooled, self.world)
        drawn = super().negative_binomial(n, p, self._size(size))
        return self._noise("polya", 0.0, 1.0, drawn, _step(p), n)

    def standard_gamma(
        self, shape: Foreign, size: Foreign = None, *args: Foreign, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's."""
        self._whole(args, kwargs)
        shape = self._public(shape)
        self.world.pooling = functools.partial(pooled, self.world)
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
                    raise self.world.stop("several outcomes are drawn for one randomised answer")
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
            raise self.world.stop(
                "outcomes whose probabilities depend on raw data are drawn without replacement"
            )
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
            raise self.world.stop_raw("raw {data} set probabilities that may not add up to 1")
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
                raise self.world.stop("whole numbers are drawn in a way that we cannot follow")
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


def _standard(kind: str) -> Foreign:
    def draw(self: FollowedGenerator, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        self._whole(args, kwargs)
        drawn = getattr(np.random.Generator, f"standard_{kind}")(self, self._size(size), *args, **kwargs)
        return self._noise(kind, 0.0, 1.0, drawn)

    return draw


for _name in AROUND:
    setattr(FollowedGenerator, _name, around(_name))
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
                raise self.world.stop("a randomised answer draws a random order")
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
for _name in undefined(FollowedGenerator):
    setattr(FollowedGenerator, _name, _coin(_name))
for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in _ASKED and callable(getattr(FollowedGenerator, _name)):
        setattr(FollowedGenerator, _name, _opening(_name))
