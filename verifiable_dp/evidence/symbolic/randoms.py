"""Generators other than the given one whose draws are followed: Python's, and NumPy's own.

One that is seeded hides something only if its seed was drawn from the generator of the run and serves nothing
else. Where a program leaves the seed to the system, `system_seeded` and the stand-ins give the same numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import secrets
import types
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import accept_reject, boxes
from verifiable_dp.evidence.symbolic.adding import add, minus
from verifiable_dp.evidence.symbolic.atoms import SymbolicDraw
from verifiable_dp.evidence.symbolic.draws import (
    FollowedGenerator,
    one_of,
    paid_for,
    proposed,
    sign_of,
    uniform,
)
from verifiable_dp.evidence.symbolic.ends import SETS_SCALE, Ends
from verifiable_dp.evidence.symbolic.multiplying import divide
from verifiable_dp.evidence.symbolic.terms import Term, is_term, number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.foreign import bits_of, wide
from verifiable_dp.evidence.tracing.reach import globals_of, held_in

_LEAST_SEEDS = 2**62  # NumPy draws whole numbers below 2**63; nobody can try a quarter of those
_LEAST_PICKED = 2**31


class FollowedRandom:
    """Stands in for a generator of Python's."""

    def __init__(self, world: World, real: random.Random) -> None:
        self._world, self._real = world, real
        world.generators.append(real)

    @classmethod
    def seeded(cls, world: World, *seed: Foreign) -> FollowedRandom:
        """One with a seed that was drawn for it."""
        return cls(world, random.Random(_drawn_seed(world, "random.Random", seed)))

    def __getattribute__(self, name: str) -> Foreign:
        if name[0] != "_" and name != "seeded" and self._world.bare:
            self._world.chooser.opens()
            return getattr(self._real, name)
        return super().__getattribute__(name)

    def random(self) -> Foreign:
        """As Python's."""
        return uniform(self._world, self._real.random())

    def uniform(self, a: Foreign, b: Foreign) -> Foreign:
        """As Python's."""
        a, b = (boxes.plain(self._world, v, "raw {data} set the distribution of a draw") for v in (a, b))
        return a + (b - a) * self.random()

    def expovariate(self, lambd: Foreign = 1.0) -> Foreign:
        """As Python's."""
        lambd = boxes.plain(self._world, lambd, SETS_SCALE)
        return (1.0 - self.random()).through(lambda u: -np.log(u)) / lambd

    def gauss(self, mu: Foreign = 0.0, sigma: Foreign = 1.0) -> Foreign:
        """As Python's."""
        return self._normal(self._real.gauss(), mu, sigma)

    def normalvariate(self, mu: Foreign = 0.0, sigma: Foreign = 1.0) -> Foreign:
        """As Python's."""
        return self._normal(self._real.normalvariate(), mu, sigma)

    def _normal(self, value: float, mu: Foreign, sigma: Foreign) -> Foreign:
        sigma = float(boxes.plain(self._world, sigma, SETS_SCALE))
        return mu + sigma * Term(self._world, 0.0, {}, {SymbolicDraw("normal", value): 1.0})

    def choice(self, seq: Foreign) -> Foreign:
        """As Python's."""
        index = self._one_of(len(seq), self._real.choice(range(len(seq))))
        return sign_of(self._world, seq, index) if len(seq) == 2 and not boxes.has_own(seq) else seq[index]

    def randrange(self, *args: Foreign) -> Foreign:
        """As Python's."""
        args = boxes.plain(self._world, args, "raw {data} set the distribution of a draw")
        values = range(*args)
        return values[self._one_of(len(values), values.index(self._real.randrange(*args)))]

    def _one_of(self, size: int, natural: int) -> int:
        """One of the first whole numbers, the ends of which are looked at."""
        if self._world.oracle is not None:
            return one_of(self._world, size, natural)
        self._world.widely(size)
        return int(self._world.chooser.seldom(natural, lambda: (0, size - 1)))

    def choices(self, population: Foreign, weights: Foreign = None, **kwargs: Foreign) -> Foreign:
        """As Python's; one outcome with raw weights is paid for."""
        if weights is None and boxes.has_terms(kwargs.get("cum_weights")):
            edges = [0.0, *boxes.entries(self._world, kwargs.pop("cum_weights"))]
            weights = [minus(high, low) for low, high in itertools.pairwise(edges)]
        if not boxes.has_terms(weights) or kwargs.get("k", 1) != 1 or "cum_weights" in kwargs:
            return self._public_choices(population, weights, **kwargs)
        weights = [number(weight) for weight in boxes.entries(self._world, weights)]
        whole = functools.reduce(add, weights)
        values = [w.value() if is_term(w) else float(w) for w in weights]
        natural = self._real.choices(range(len(weights)), weights=values)[0]
        return [population[paid_for(self._world, [divide(w, whole) for w in weights], natural)]]

    def _public_choices(self, population: Foreign, weights: Foreign, **kwargs: Foreign) -> Foreign:
        if boxes.has_own([weights, *kwargs.values()]):
            raise self._world.stop("random.choices chooses from values that are not public")
        size = len(population)
        made = np.array(self._real.choices(range(size), weights, **kwargs), np.int64)
        self._world.chooser.opens()
        return [population[i] for i in self._world.chooser.several(made, lambda: (0, size - 1)).tolist()]

    def randint(self, a: Foreign, b: Foreign) -> Foreign:
        """As Python's."""
        return self.randrange(a, b + 1)

    def shuffle(self, x: Foreign) -> None:
        """As Python's; a list of the first few whole numbers is an order of proposals."""
        if boxes.has_own(x):
            raise self._world.stop("random.shuffle shuffles values that are not public")
        kept, order = list(x), list(range(len(x)))
        self._real.shuffle(order)
        x[:] = [kept[i] for i in self._world.chooser.order(np.array(order, np.int64)).tolist()]
        x[:] = proposed(self._world, x) or x

    def sample(self, population: Foreign, k: int, **kwargs: Foreign) -> Foreign:
        """As Python's; all of the first few whole numbers are an order of proposals."""
        if boxes.has_own([*population, k, *kwargs.values()]):
            raise self._world.stop("random.sample samples values that are not public")
        made = self._real.sample(population, k, **kwargs)
        if all(type(value) in (int, float) for value in made):
            made = self._world.chooser.order(np.array(made)).tolist()
        return proposed(self._world, made) or made

    def getrandbits(self, k: int) -> Foreign:
        """As Python's; a large number may be a seed."""
        made = self._real.getrandbits(k)
        if self._world.oracle is not None:
            return made
        if 1 << k < _LEAST_PICKED:
            self._world.widely(1 << k)
            return int(self._world.chooser.seldom(made, lambda: (0, (1 << k) - 1)))
        return accept_reject.Pick(accept_reject.Proposals(self._world, 1 << k, False), made)

    def __getattr__(self, name: str) -> Foreign:
        if name != "betavariate":
            raise self._world.stop(f"we cannot follow random.{name}")
        real = getattr(self._real, name)

        def draw(*args: Foreign, **kwargs: Foreign) -> Foreign:
            self._world.chooser.opens()
            self._world.widely(1 << 62)
            if boxes.has_own(args) or boxes.has_own(list(kwargs.values())):
                raise self._world.stop(f"random.{name} has arguments that are not public")
            return real(*args, **kwargs)

        return draw


def _drawn_seed(world: World, what: str, seed: Foreign) -> Foreign:
    """A seed that was drawn for one generator: a whole number, or some of which one suffices."""
    value: Foreign = seed[0] if len(seed) == 1 else None
    parts = list(value) if type(value) in (list, tuple) else [value]
    drawn = [part for part in parts if type(part) is accept_reject.Pick]
    seeds = math.prod(part.seeds for part in drawn)
    if any(part.is_public or part.is_dead for part in drawn) or seeds < _LEAST_SEEDS:
        why = Ends.SEEDS if drawn and seeds < _LEAST_SEEDS else Ends.OTHER
        raise world.stop(
            f"{what} has a seed that is not a whole number drawn from at least 2^62 values", why=why
        )
    if not all(type(part) is accept_reject.Pick or type(part) is int for part in parts):
        raise world.stop(f"{what} has a seed that is not a whole number")
    for part in drawn:
        part.is_dead = True  # whoever uses it again knows what is drawn
    numbers = [int(part.value) if type(part) is accept_reject.Pick else part for part in parts]
    return numbers if type(value) in (list, tuple) else numbers[0]


# What ``secrets`` draws, and what it is called of a generator of Python's.
_SECRET = {"randbits": "getrandbits", "randbelow": "randrange", "choice": "choice"}


def secret(name: str, drawn: Foreign) -> Foreign:
    """What stands in for a name of ``secrets``, drawn from this generator of Python's; None for nothing."""
    return getattr(drawn, _SECRET[name]) if name in _SECRET else None


def name_of_secret(value: Foreign) -> str:
    """By which name ``secrets`` has it; empty if by none."""
    return next((name for name in _SECRET if vars(secrets)[name] is value), "")


class _Legacy:
    """What ``np.random`` and ``RandomState`` have under names of their own."""

    def rand(self: Foreign, *shape: int) -> Foreign:
        """As numpy's."""
        return self.random(shape or None)

    def randn(self: Foreign, *shape: int) -> Foreign:
        """As numpy's."""
        return self.standard_normal(shape or None)

    def random_sample(self: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self.random(size)

    def randint(
        self: Foreign, low: Foreign, high: Foreign = None, size: Foreign = None, dtype: Foreign = int
    ) -> Foreign:
        """As numpy's."""
        return self.integers(low, high, size) if dtype is int else self.integers(low, high, size, dtype)

    ranf = sample = random_sample


class _Plain(_Legacy, np.random.Generator):
    pass


class _Followed(_Legacy, FollowedGenerator):
    pass


Maker = Callable[[Foreign, int], np.random.Generator]  # of bits and the number of their stream


def _unmoved(bits: Foreign, stream: int) -> np.random.Generator:
    return _Plain(bits)


def _moved(make: Maker) -> Maker:
    """What makes generators of `make` with the old names, too."""
    kinds: dict[str, Foreign] = {}

    def made(bits: Foreign, stream: int) -> np.random.Generator:
        generator = make(bits, stream)
        name = type(generator).__name__
        generator.__class__ = kinds.setdefault(name, type(name, (_Legacy, type(generator)), {}))
        return generator

    return made


class _States(type):
    """Stands in for `RandomState`: any generator will do where nobody knows the seed."""

    sources: Sources

    def __call__(cls, seed: Foreign = None) -> Foreign:
        return cls.sources.new(seed)

    def __instancecheck__(cls, value: Foreign) -> bool:
        return isinstance(value, _RANDOM_STATE | _Legacy)

    def __subclasscheck__(cls, kind: Foreign) -> bool:
        return issubclass(kind, _RANDOM_STATE)


class Refused:
    """Stands in for a generator whose draws hide nothing: the bound ends where something is drawn."""

    def __init__(self, world: World, why: str) -> None:
        self._world, self._why = world, why

    def __getattr__(self, name: str) -> Foreign:
        def draw(*args: Foreign, **kwargs: Foreign) -> Foreign:
            raise self._world.stop(self._why)

        return draw


def refused(world: World | None, module: str) -> Refused | None:
    """What stands in for the generator of a module that is known; None where it is a secret."""
    why = "" if world is None else world.known(id(wide()[module]))
    return Refused(world, why) if world is not None and why else None


class Sources:
    """NumPy's generators that a run finds or makes without a seed, each with a stream of its own.

    Parameters
    ----------
    number
        Of the path: the traced run and the plain one draw the same.
    world
        The run that is traced; None for a plain one.
    plain
        Makes the generators of a plain run.
    apart
        Generators that something holds for which nothing stands in, see `reach.Scopes`.
    """

    NAMES = frozenset(
        name
        for name in {*dir(np.random)} & {*dir(_Plain)}
        if name[0] != "_"
        and isinstance(getattr(np.random, name), types.BuiltinFunctionType | types.MethodType)
    )

    def __init__(
        self,
        number: int,
        world: World | None = None,
        plain: Maker | None = None,
        apart: Set[int] = frozenset(),
    ) -> None:
        self._apart = apart
        self._number, self._world, self._made, self._plain = number, world, 0, plain or _unmoved
        self._instead: dict[int, Foreign] = {}
        self.state = self.new()
        self.states = _States("RandomState", (), {"sources": self})

    def new(self, seed: Foreign = None) -> Foreign:
        """One more generator, with the names of the old ones, too; seeded with what was drawn for it."""
        self._made += 1
        place = [20260103, self._number, self._made]
        if seed is not None and self._world is not None:
            seed = _drawn_seed(self._world, "numpy.random.RandomState", [seed])
        bits = np.random.Philox(np.random.SeedSequence(place if seed is None else [20260104, int(seed)]))
        if self._world is None:
            return self._plain(bits, self._made)
        return _Followed.of(bits, self._world, self._made)

    def default_rng(self, seed: Foreign = None) -> Foreign:
        """As numpy's."""
        if seed is None:
            return self.new()
        if self._world is None:
            return _DEFAULT_RNG(seed)
        if isinstance(seed, FollowedGenerator):
            return seed
        number = _drawn_seed(self._world, "numpy.random.default_rng", [seed])
        return FollowedGenerator.of(np.random.PCG64(number), self._world)

    def instead_of(self, value: Foreign) -> Foreign:
        """What takes the place of an object of the user's module; None for nothing."""
        if isinstance(value, np.random.Generator | _RANDOM_STATE):
            if type(value) in (np.random.Generator, _RANDOM_STATE):
                return self._of_bits(bits_of(value))
            return None if self._world is None else Refused(self._world, OWN_CLASS)
        if value is _RANDOM_STATE:
            return self.states
        if value is _DEFAULT_RNG:
            return self.default_rng
        name = getattr(value, "__name__", "")
        known = name in self.NAMES and getattr(np.random, name) is value
        return getattr(refused(self._world, "np.random") or self.state, name) if known else None

    def _of_bits(self, bits: np.random.BitGenerator) -> Foreign:
        """What takes the place of all generators that share these bits."""
        if id(bits) not in self._instead:
            why = "" if self._world is None else self._world.known(id(bits)) or self.apart(bits)
            made = self.new()  # in any case, so that others have the same streams in a plain run
            self._instead[id(bits)] = Refused(self._world, why) if self._world and why else made
        return self._instead[id(bits)]

    def apart(self, source: Foreign) -> str:
        """Why a generator cannot be followed that others hold, too: they may change it; empty if none do."""
        return APART if id(source) in self._apart else ""


APART = "the code also keeps this generator where we cannot follow it (tuple, slot, class, closure, bits)"
OWN_CLASS = "the code draws from one of its own generator classes"
_DEFAULT_RNG, _RANDOM_STATE = np.random.default_rng, np.random.RandomState


@contextmanager
def system_seeded(
    scopes: Mapping[str, dict[str, Foreign]], number: int, make: Maker | None = None
) -> Iterator[None]:
    """Give generators of the modules, and those that the system seeds, a state, so that runs repeat.

    NumPy's are made by `make`, if it is given.
    """
    changed: list[tuple[dict[str, Foreign], str, Foreign]] = []
    sources, drawn = Sources(number, plain=make and _moved(make)), random.Random(number)

    def instead(value: Foreign) -> Foreign:
        system = isinstance(value, random.SystemRandom)
        return random.Random(number) if system else sources.instead_of(value)

    try:
        for scope in globals_of(scopes):
            for name, value in list(scope.items()):
                other = secret(name_of_secret(value), drawn) or instead(value)
                if other is not None:
                    changed.append((scope, name, value))
                    scope[name] = other
        numpy = vars(np.random)
        changed += [(numpy, name, numpy[name]) for name in (*Sources.NAMES, "default_rng", "RandomState")]
        numpy |= {name: getattr(sources.state, name) for name in Sources.NAMES}
        numpy |= {"default_rng": sources.default_rng, "RandomState": sources.states}
        own = vars(secrets)
        changed += [(own, name, own[name]) for name in _SECRET]
        own |= {name: secret(name, drawn) for name in _SECRET}
        with in_place(scopes, instead):
            yield
    finally:
        for scope, name, value in changed:
            scope[name] = value


@contextmanager
def in_place(
    scopes: Mapping[str, dict[str, Foreign]], instead: Callable[[Foreign], Foreign]
) -> Iterator[None]:
    """Put others in the place of generators that attributes and entries hold, for a while.

    What the code itself has put there meanwhile stays, so that it shows.
    """
    changed: list[tuple[Foreign, Foreign, Foreign, Foreign]] = []
    try:
        for holder, name, value in held_in(scopes):
            if isinstance(value, _KEPT) and (other := instead(value)) is not None:
                changed.append((holder, name, value, other))
                holder[name] = other
        yield
    finally:
        for holder, name, value, other in changed:
            with suppress(LookupError):  # the code has taken it away
                if holder[name] is other:
                    holder[name] = value


_KEPT = (np.random.Generator, np.random.RandomState, random.SystemRandom)
