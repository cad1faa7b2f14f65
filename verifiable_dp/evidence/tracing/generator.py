"""A generator whose draws are tracked: those that can be added to data as `Noise`, all others as coins."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from verifiable_dp.core.validate import Foreign, IntArray
from verifiable_dp.evidence.tracing.arrays import Raw, base, tainted
from verifiable_dp.evidence.tracing.laws import WHOLE, Law, family, shaped
from verifiable_dp.evidence.tracing.ledger import Flips, Ledger, NoteKind
from verifiable_dp.evidence.tracing.waiting_noise import Noise


class Uniform(float):
    """A uniform draw: a coin if compared with a public number, an outcome of raw chances with a raw one."""

    ledger: Ledger
    number: IntArray  # among the uniform draws

    @classmethod
    def of(cls, value: float, ledger: Ledger) -> Uniform:
        """Track `value`."""
        made = cls(value)
        made.ledger, made.number = ledger, ledger.numbered(())
        return made

    def _below(self, limit: Foreign, compare: Callable[[float, Foreign], Foreign], turned: bool) -> Foreign:
        """Whether the draw is below `limit`, or the opposite if `turned`."""
        if isinstance(limit, Uniform):
            return compare(float(self), float(limit))
        if isinstance(limit, np.ndarray) and limit.ndim:
            return NotImplemented
        holds = compare(float(self), base(limit))
        if isinstance(limit, Raw) and limit.ndim == 0 and tainted(limit):
            if type(limit) is Raw and limit.given:
                self.ledger.read()
            chance = min(max(float(base(limit)), 0.0), 1.0)
            chances, drawn = np.array([[1 - chance, chance]]), np.array([int(holds != turned)])
            below = self.ledger.choose(chances, drawn, self.number)
            return bool(below[0]) != turned
        if not isinstance(limit, int | float | np.floating | np.integer):
            return NotImplemented
        chance = min(max(float(limit), 0.0), 1.0)
        self.ledger.show(self.number)
        return self.ledger.compare(1 - chance if turned else chance, holds)

    def __lt__(self, other: Foreign) -> Foreign:
        return self._below(other, operator.lt, False)

    def __le__(self, other: Foreign) -> Foreign:
        return self._below(other, operator.le, False)

    def __gt__(self, other: Foreign) -> Foreign:
        return self._below(other, operator.gt, True)

    def __ge__(self, other: Foreign) -> Foreign:
        return self._below(other, operator.ge, True)

    __hash__ = float.__hash__


class TrackedGenerator(np.random.Generator):
    """Stands in for a user's generator, with the same stream of numbers.

    Parameters
    ----------
    bits
        A bit generator.
    ledger
        What is drawn is written here.
    words
        A note to make at the first draw; none if empty.
    """

    ledger: Ledger
    words: str

    @classmethod
    def of(cls, bits: np.random.BitGenerator, ledger: Ledger, words: str = "") -> TrackedGenerator:
        """Track the draws from `bits`."""
        made = cls(bits)
        made.ledger, made.words = ledger, words
        return made

    def _used(self) -> None:
        if self.words:
            self.ledger.note(self.words)

    @property
    def bit_generator(self) -> Foreign:
        """As numpy's; what is drawn from it directly is not followed."""
        self.ledger.note("we cannot follow draws from the generator's bits", NoteKind.UNFOLLOWED_DRAWS)
        return super().bit_generator

    def spawn(self, n_children: int) -> Foreign:
        """As numpy's."""
        bits = np.random.Generator.bit_generator.__get__(self)
        return [TrackedGenerator.of(child, self.ledger, self.words) for child in bits.spawn(n_children)]

    def _noise(self, kind: str, loc: Foreign, scale: Foreign, drawn: Foreign) -> Foreign:
        """Draws of a kind, around `loc`."""
        self._used()
        whole = family(kind) in WHOLE
        sample = np.asarray(drawn, dtype=np.float64)
        shape = sample.shape
        if tainted(scale):
            self.ledger.lead("chance")
        wide = np.broadcast_to(np.asarray(base(scale), dtype=np.float64), shape)
        noise = Noise(
            self.ledger, Law(kind, wide, np.ones(shape)), self.ledger.number(shape), sample, whole=whole
        )
        plain = not isinstance(loc, Raw | Noise) and np.ndim(loc) == 0 and loc == 0
        return noise if plain else noise + loc

    def _centred(self, kind: str, loc: Foreign, scale: Foreign, size: Foreign) -> Foreign:
        draw = getattr(np.random.Generator, kind)
        shape = np.shape(loc)
        return self._noise(kind, loc, scale, draw(self, np.zeros(shape) if shape else 0.0, base(scale), size))

    def exponential(self, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._noise("exponential", 0.0, scale, super().exponential(base(scale), size))

    def geometric(self, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._noise("geometric", 0.0, p, super().geometric(base(p), size))

    def _shaped(self, name: str, shape: Foreign, scale: Foreign, size: Foreign) -> Foreign:
        """Draws of a family with a shape, as noise if that is one public number."""
        args = (shape,) if name == "poisson" else (shape, scale)
        if tainted(shape) or np.ndim(base(shape)) or np.asarray(base(shape)).dtype.kind not in "fiu":
            return self._coin(name, (*args, size), {})
        drawn = getattr(np.random.Generator, name)(self, *[base(a) for a in args], size)
        return self._noise(shaped(name, float(base(shape))), 0.0, scale, drawn)

    def gamma(self, shape: Foreign, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._shaped("gamma", shape, scale, size)

    def standard_gamma(
        self, shape: Foreign, size: Foreign = None, *args: Foreign, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's."""
        if args or kwargs:
            return self._coin("standard_gamma", (shape, size, *args), kwargs)
        return self._shaped("gamma", shape, 1.0, size)

    def negative_binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._shaped("negative_binomial", n, p, size)

    def poisson(self, lam: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._shaped("poisson", lam, 1.0, size)

    def random(self, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's; a coin."""
        self._used()
        drawn = super().random(size, *args, **kwargs)
        self.ledger.coin("random", drawn)
        return Uniform.of(drawn, self.ledger) if size is None else self._uniform(drawn)

    def uniform(self, low: Foreign = 0.0, high: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's; a coin, between 0 and 1 as from `random`."""
        if not all(type(end) in (int, float) for end in (low, high)) or (low, high) != (0, 1):
            return self._coin("uniform", (low, high, size), {})
        self._used()
        drawn = super().uniform(low, high, size)
        self.ledger.coin("uniform", drawn)
        return Uniform.of(drawn, self.ledger) if size is None else self._uniform(drawn)

    def _uniform(self, drawn: Foreign) -> Foreign:
        """An array of uniform draws, which may turn raw bits."""
        made = self._public(drawn)
        if type(made) is Raw:
            made.uniform = self.ledger.numbered(made.shape)
        return made

    def choice(  # type: ignore[override]
        self, a: Foreign, size: Foreign = None, replace: bool = True, p: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's; with raw chances, an outcome that is paid for by their ratio."""
        if size is not None or not tainted(p) or tainted(a):
            return self._coin("choice", (a, size, replace, p), kwargs)
        self._used()
        chances = np.asarray(base(p), dtype=np.float64)
        outcome = int(super().choice(len(chances), p=chances))
        outcome = int(self.ledger.choose(chances[None], np.array([outcome]))[0])
        return outcome if np.ndim(a) == 0 else a[outcome]

    def binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's; draws with raw chances are outcomes that are paid for."""
        if not tainted(p) or tainted(n) or np.ndim(n) or n != 1:
            made = self._coin("binomial", (n, p, size), {})
            if type(made) is Raw and not tainted([n, p]) and np.ndim(n) == np.ndim(p) == 0 and n == 1:
                made.flips = Flips(self.ledger.numbered(made.shape), np.full(made.shape, float(base(p))))
            return made
        self._used()
        if type(p) is Raw and p.given:
            self.ledger.read()
        drawn = np.asarray(super().binomial(1, base(p), size))
        chances = np.broadcast_to(base(p), drawn.shape).astype(np.float64).ravel()
        outcome = self.ledger.choose(np.stack([1 - chances, chances], axis=1), drawn.ravel())
        return self._public(outcome.reshape(drawn.shape)) if drawn.ndim else int(outcome[0])

    def _public(self, drawn: Foreign) -> Foreign:
        """Arrays of coins may take raw rewards later."""
        tracks = isinstance(drawn, np.ndarray) and drawn.dtype.kind in "fiub"
        return Raw.of(drawn, self.ledger, False) if tracks else drawn

    def _coin(self, name: str, args: Foreign, kwargs: Foreign) -> Foreign:
        self._used()
        raw = tainted(args) or tainted(kwargs)
        shuffled = name in ("shuffle", "permutation", "permuted") and bool(args)
        if raw and not shuffled:
            # The chances of the draw are raw: randomised response and the exponential mechanism look so.
            self.ledger.lead("chance")
        plain = {key: base(value) for key, value in kwargs.items()}
        drawn = getattr(np.random.Generator, name)(self, *[base(value) for value in args], **plain)
        self.ledger.coin(name, None if shuffled else drawn)
        if shuffled and raw and isinstance(drawn, np.ndarray):
            return Raw.of(drawn, self.ledger)
        return self._public(drawn)


AROUND = ("laplace", "normal", "gumbel", "logistic")  # laws with a place, which comes first


def around(kind: str) -> Foreign:
    """The method that draws from a law with a place; its class centres it."""

    def draw(self: Foreign, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._centred(kind, loc, scale, size)

    return draw


def _standard(kind: str) -> Foreign:
    def draw(self: TrackedGenerator, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        drawn = getattr(np.random.Generator, f"standard_{kind}")(self, size, *args, **kwargs)
        return self._noise(kind, 0.0, 1.0, drawn)

    return draw


def undefined(kind: type) -> list[str]:
    """Draws of NumPy's generators that a class has from there."""
    every = (name for name in dir(np.random.Generator) if not name.startswith("_"))
    return [n for n in every if n not in vars(kind) and callable(getattr(np.random.Generator, n))]


for _name in AROUND:
    setattr(TrackedGenerator, _name, around(_name))
for _name in ("normal", "exponential"):
    setattr(TrackedGenerator, f"standard_{_name}", _standard(_name))


def _coin(name: str) -> Foreign:
    def draw(self: TrackedGenerator, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return self._coin(name, args, kwargs)

    draw.__name__ = name
    draw.__doc__ = "As numpy's; a coin."
    return draw


for _name in undefined(TrackedGenerator):
    setattr(TrackedGenerator, _name, _coin(_name))
