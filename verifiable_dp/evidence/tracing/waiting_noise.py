"""Noise that waits for the data it is added to.

`Noise` stands for draws of a generator; it takes up what is added to it and becomes a release, plain numbers,
when it is first used for anything else: what is public needs no tracking. `Mixed` is an array some of whose
entries wait in this way.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.tracing import laws
from verifiable_dp.evidence.tracing.arrays import (
    LIKE,
    Raw,
    Waiting,
    bare,
    base,
    is_tracked_key,
    is_waiting,
    noise_ufunc,
    settled,
    tainted,
)
from verifiable_dp.evidence.tracing.laws import Law
from verifiable_dp.evidence.tracing.ledger import Ledger, Place, caller
from verifiable_dp.evidence.tracing.python_operators import COMPARING, OF_NUMBERS, answers

_NUMBERS = (np.ndarray, np.float64, np.int64)
_SETTLED_CLASS = object.__dict__["__class__"]


def _wide(part: Foreign, shape: tuple[int, ...]) -> Foreign:
    return part if np.shape(part) == shape else np.broadcast_to(part, shape)


class Mixed(Raw, Waiting):
    """A tracked array some of whose entries wait for their noise to be released.

    The exact parts stand in the array itself; `pending` holds the draws, -1 where there is none.
    """

    pending: Noise

    _FREE = frozenset(
        (
            "pending",
            "ledger",
            "tainted",
            "own",
            "uniform",
            "flips",
            "settle",
            "as_noise",
            "shape",
            "ndim",
            "size",
            "dtype",
            "view",
            "_wrap",
            "_put",
        )
    )

    def __getattribute__(self, name: str) -> Foreign:
        if name == "T":
            return np.ndarray.__getattribute__(self, "as_noise")().T
        if name in Mixed._FREE or (name.startswith("__") and name != "__array_interface__"):
            return np.ndarray.__getattribute__(self, name)
        return getattr(np.ndarray.__getattribute__(self, "settle")(), name)

    def as_noise(self) -> Noise:
        """The entries as `Noise`, not released."""
        waiting = self.pending
        copy = Noise(
            self.ledger,
            waiting.law,
            waiting.draws.copy(),
            waiting.sample.copy(),
            np.array(bare(self)),
        )
        copy.raw, copy.met = self.tainted or waiting.raw, waiting.met
        return copy

    def settle(self) -> Raw:
        """Release what waits, in place."""
        waiting = self.pending
        mask = waiting.draws >= 0
        _SETTLED_CLASS.__set__(self, Raw)
        plain = bare(self)
        if mask.any():
            law = Law(waiting.law.kind, waiting.law.scale[mask], waiting.law.factor[mask])
            plain[mask] = self.ledger.release(
                law, waiting.draws[mask], plain[mask], waiting.sample[mask], waiting.met
            )
        return self

    def __getitem__(self, key: Foreign) -> Foreign:
        if is_tracked_key(key):
            if tainted(key):
                self.ledger.lead("index", base(key))
            key = base(key)
        part = self.as_noise()[key]
        if (part.draws >= 0).any():
            return part
        return self._wrap(bare(self)[key], self.tainted)

    def __setitem__(self, key: Foreign, value: Foreign) -> None:
        if is_waiting(value):
            Raw.__setitem__(self, key, value)
            return
        if is_tracked_key(key):
            if tainted(key):
                self.ledger.lead("index", base(key))
            key = base(key)
        self.tainted = self.tainted or tainted(value)
        self._put(key, base(value))

    def _put(self, key: Foreign, value: Foreign) -> None:
        self.pending.draws[key] = -1
        bare(self)[key] = value

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        return noise_ufunc(self.ledger, ufunc, method, inputs, out, kwargs)

    def __array_function__(self, function: Foreign, types: object, args: Foreign, kwargs: Foreign) -> Foreign:
        moved = _rearranged(function, args, kwargs)
        if moved is not None:
            return moved
        self.settle()
        return Raw.__array_function__(self, function, types, args, kwargs)


def hold(target: Raw, key: Foreign, value: Noise) -> bool:
    """Let entries of an array wait together with the draws that are written there; False if they cannot."""
    if not target.own or target.ndim == 0 or target.dtype != np.float64 or value.is_settled or value.whole:
        return False
    if type(target) is Mixed and target.pending.law.kind != value.law.kind:
        target.settle()
    if type(target) is Raw:
        law = Law(value.law.kind, np.zeros(target.shape), np.zeros(target.shape))
        _SETTLED_CLASS.__set__(target, Mixed)
        target.pending = Noise(  # type: ignore[attr-defined]
            target.ledger, law, np.full(target.shape, -1), np.zeros(target.shape)
        )
    waiting = target.pending  # type: ignore[attr-defined]
    waiting.draws[key], waiting.sample[key] = value.draws, value.sample
    waiting.law.scale[key], waiting.law.factor[key] = value.law.scale, value.law.factor
    bare(target)[key] = value.exact
    waiting.raw, waiting.met = waiting.raw or value.raw, waiting.met or value.met
    target.tainted = (target.tainted or value.bare_raw) and bool((waiting.draws < 0).any())
    return True


class Noise(Waiting):
    """Draws of a generator, and what was added to them so far: q + c Z, elementwise.

    It becomes a release, plain numbers that are public, when it is first used for anything but adding,
    scaling and selecting.

    Parameters
    ----------
    ledger
        Where releases go.
    law
        Of the draws, elementwise.
    draws : int array
        Their numbers; -1 where an element has no noise.
    sample : float array
        The draws at their scale and factor.
    exact : float array
        Plain numbers that were added already.
    whole
        Whether all of it is whole numbers.

    Attributes
    ----------
    raw
        Whether raw rewards have entered the exact parts.
    met
        Where they did.
    """

    __array_priority__ = 1000.0

    def __init__(
        self,
        ledger: Ledger,
        law: Law,
        draws: Foreign,
        sample: Foreign,
        exact: Foreign = None,
        *,
        whole: bool = False,
    ) -> None:
        self.ledger = ledger
        self.draws, self.sample = np.asarray(draws), np.asarray(sample, dtype=np.float64)
        shape = self.sample.shape
        fits = np.shape(law.scale) == shape and np.shape(law.factor) == shape
        self.law = law if fits else Law(law.kind, _wide(law.scale, shape), _wide(law.factor, shape))
        self.exact = np.zeros(shape) if exact is None else np.asarray(exact, dtype=np.float64)
        self.whole, self.raw = whole, False
        self.met: Place | None = None
        self._settled: Foreign = None

    # ------------------------------------------------------------ form

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """Of numbers, that of a number; else an array's."""
        return (np.int64 if self.whole else np.float64) if self.sample.ndim == 0 else np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array's."""
        return self.sample.shape

    @property
    def ndim(self) -> int:
        """As an array's."""
        return self.sample.ndim

    @property
    def size(self) -> int:
        """As an array's."""
        return self.sample.size

    @property
    def dtype(self) -> Foreign:
        """As an array's."""
        return np.dtype(np.int64) if self.whole else self.sample.dtype

    @property
    def T(self) -> Foreign:
        """As an array's."""
        return self._each(np.transpose)

    @property
    def is_settled(self) -> bool:
        """Whether it was released."""
        return self._settled is not None

    @property
    def bare_raw(self) -> bool:
        """Whether raw rewards stand in it without noise."""
        return self.raw and bool((self.draws < 0).any())

    def _with(self, **parts: Foreign) -> Noise:
        """A copy with other parts: draws, sample, exact, scale, factor."""
        law = Law(
            parts.get("kind", self.law.kind),
            parts.get("scale", self.law.scale),
            parts.get("factor", self.law.factor),
        )
        made = Noise(
            self.ledger,
            law,
            parts.get("draws", self.draws),
            parts.get("sample", self.sample),
            parts.get("exact", self.exact),
            whole=parts.get("whole", self.whole),
        )
        made.raw, made.met = parts.get("raw", self.raw), parts.get("met", self.met)
        return made

    def _each(self, change: Foreign) -> Foreign:
        """The same change of shape to every part."""
        if self._settled is not None:
            return change(self._settled)
        return self._with(
            draws=np.array(change(self.draws)),
            sample=np.array(change(self.sample)),
            exact=np.array(change(self.exact)),
            scale=np.array(change(self.law.scale)),
            factor=np.array(change(self.law.factor)),
        )

    def __len__(self) -> int:
        return len(self.sample)

    def __getitem__(self, key: Foreign) -> Foreign:
        if self._settled is not None:
            return self._settled[key]
        if tainted(key):
            self.ledger.lead("index", base(key))
        key = base(key)
        return self._each(lambda part: part[key])

    def __setitem__(self, key: Foreign, value: Foreign) -> None:
        if self._settled is not None or (
            isinstance(value, Noise) and (value.law.kind != self.law.kind or value.is_settled)
        ):
            self.settle()[key] = value
            return
        if tainted(key):
            self.ledger.lead("index", base(key))
        key = base(key)
        # Parts may be broadcast views.
        parts = [np.array(p) for p in (self.draws, self.sample, self.exact, self.law.scale, self.law.factor)]
        if isinstance(value, Noise):
            new = [value.draws, value.sample, value.exact, value.law.scale, value.law.factor]
            self.raw, self.met = self.raw or value.raw, self.met or value.met
        else:
            new = [np.array(-1), np.zeros(()), np.asarray(base(value)), np.zeros(()), np.zeros(())]
            self.raw = self.raw or tainted(value)
            self.whole = self.whole and np.asarray(base(value)).dtype.kind in "iub"
        for part, entries in zip(parts, new, strict=True):
            part[key] = entries
        self.draws, self.sample, self.exact = parts[0], parts[1], parts[2]
        self.law = Law(self.law.kind, parts[3], parts[4])

    def __iter__(self) -> Foreign:
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape: Foreign) -> Foreign:
        """As an array's."""
        return self._each(lambda part: part.reshape(*shape))

    def ravel(self) -> Foreign:
        """As an array's."""
        return self._each(np.ravel)

    flatten = ravel

    def copy(self) -> Foreign:
        """As an array's."""
        return self._each(np.array)

    def tolist(self) -> Foreign:
        """Lists of numbers that still wait."""
        if self._settled is not None:
            return self._settled.tolist()
        return [self[i].tolist() for i in range(len(self))] if self.ndim else self

    def item(self) -> Foreign:
        """As an array's."""
        return base(self).item()

    def astype(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's; noise of another type is a release."""
        if args and np.dtype(args[0]) == self.dtype:
            return self.copy()
        return self.settle().astype(*args, **kwargs)

    def __getattr__(self, name: str) -> Foreign:
        # Code that asks what it has before it (pandas: `_typ`, `input_objs`) uses nothing of its number.
        if name.startswith("_") or not any(hasattr(kind, name) for kind in _NUMBERS):
            raise AttributeError(name)
        return getattr(self.settle(), name)

    # ------------------------------------------------------------ release

    def as_noise(self) -> Noise:
        """Itself, as `Mixed` gives its entries."""
        return self

    def wait_in(self, target: Raw, key: Foreign) -> bool:
        """See `hold`."""
        return hold(target, key, self)

    def scaled(self, by: Foreign) -> Foreign:
        """Times public numbers."""
        if self._settled is not None:
            return self._settled * by
        by = np.asarray(base(by))
        whole = self.whole and by.dtype.kind in "iub"
        by = by.astype(np.float64)
        shape = self.shape if by.shape == self.shape else np.broadcast_shapes(self.shape, by.shape)
        return self._with(
            scale=_wide(self.law.scale, shape),
            factor=_wide(self.law.factor, shape) * by,
            draws=_wide(self.draws, shape),
            sample=self.sample * by,
            exact=self.exact * by,
            whole=whole,
        )

    def plus(self, other: Foreign) -> Foreign:
        """With something added: noise around another number, released when it is first used."""
        if self._settled is not None:
            return self._settled + other
        if isinstance(other, Noise):
            return self._together(other)
        value = np.asarray(base(other))
        if value.dtype.kind not in "fiub" or (tainted(other) and self.given_out):
            return self.settle() + other
        whole = self.whole and value.dtype.kind in "iub"
        shape = self.shape if value.shape == self.shape else np.broadcast_shapes(self.shape, value.shape)
        raw = tainted(other)
        made: Noise = self._with(
            scale=_wide(self.law.scale, shape),
            factor=_wide(self.law.factor, shape),
            draws=_wide(self.draws, shape),
            sample=_wide(self.sample, shape),
            exact=self.exact + value,
            raw=self.raw or raw,
            whole=whole,
        )
        if raw and made.met is None:
            made.met = caller(self.ledger.files)
        return made

    def _together(self, other: Noise) -> Foreign:
        """Two draws together: the difference of two alike is a two-sided one, else the second is public."""
        if self.given_out and not other.given_out:
            return other.plus(self.settle())
        kind, draws = self._joint(other), self.draws
        if kind is None:
            mirrored = self._mirrored(other)
            return self.plus(other.settle()) if mirrored is None else mirrored
        if kind == laws.difference(self.law.kind):
            self.ledger.halves.update(other.draws.ravel().tolist())
        else:
            draws = self.ledger.joined(self.draws, other.draws)
        return self._with(
            kind=kind,
            draws=draws,
            factor=np.abs(self.law.factor) if laws.is_symmetric(kind) else self.law.factor,
            sample=self.sample + other.sample,
            exact=self.exact + other.exact,
            raw=self.raw or other.raw,
            met=self.met or other.met,
            whole=self.whole and other.whole,
        )

    @property
    def given_out(self) -> bool:
        """Whether all of its draws were given out already, so that adding to it adds to a public number."""
        draws = self.draws.ravel().tolist()
        return bool(draws) and self.ledger.public.issuperset(draws)

    def _joint(self, other: Noise) -> str | None:
        """The law of the sum of fresh draws, entry by entry; None where it is not one that is known."""
        draws = self.draws.ravel().tolist() + other.draws.ravel().tolist()
        halves, factors = self.ledger.halves, (self.law.factor, other.law.factor)
        fresh = (
            self.shape == other.shape
            and not other.is_settled
            and np.array_equal(self.law.scale, other.law.scale)
            and min(draws, default=-1) >= 0
            and len(set(draws)) == len(draws)
            and halves.isdisjoint(draws)
            and self.ledger.public.isdisjoint(draws)
        )
        if not fresh:
            return None
        if self.law.kind == other.law.kind and np.array_equal(factors[0], -factors[1]):
            found = laws.difference(self.law.kind)
            if found is not None:
                return found
        symmetric = laws.is_symmetric(self.law.kind) and laws.is_symmetric(other.law.kind)
        mine, theirs = (np.abs(f) if symmetric else f for f in factors)
        equal = np.array_equal(mine, theirs)
        return laws.total(self.law.kind, other.law.kind) if equal else None

    def sum(self, axis: Foreign = None, **kwargs: Foreign) -> Foreign:
        """As an array's; all of it is added up one by one, and waits as long as that does."""
        if axis is not None or kwargs or self._settled is not None or not self.size:
            return self.settle().sum(axis=axis, **kwargs)
        return functools.reduce(operator.add, self.ravel()) if self.ndim else self

    def _mirrored(self, other: Noise) -> Noise | None:
        """Noise made symmetric: draws and the same ones in other places; None if it is not that.

        Entry by entry they are a draw beside none, one draw twice, or two normal draws of equal spread, whose
        sum is one draw wherever the same two meet.
        """
        if other.is_settled or self.law.kind != other.law.kind or self.shape != other.shape:
            return None
        mine, theirs = self.draws, other.draws
        alone, twice = (mine < 0) | (theirs < 0), (mine >= 0) & (mine == theirs)
        two = ~(alone | twice)
        if two.any():
            same = np.array_equal(np.unique(mine), np.unique(theirs))
            spread = [noise.law.factor * noise.law.scale for noise in (self, other)]
            normal = self.law.kind == "normal" and not (spread[0] != spread[1])[two].any()
            pure = not (self.raw or other.raw or self.exact.any() or other.exact.any())
            if not (pure and same and normal) or self.ledger.released(mine):
                return None
        draws, taken = np.where(mine < 0, theirs, mine), mine < 0
        for at in zip(*np.nonzero(two), strict=True):
            draws[at] = self.ledger.sum_of(int(mine[at]), int(theirs[at]))
        factor = np.where(taken, other.law.factor, self.law.factor)
        return self._with(
            draws=draws,
            sample=np.where(mine < 0, 0.0, self.sample) + np.where(theirs < 0, 0.0, other.sample),
            scale=np.where(taken, other.law.scale, self.law.scale),
            factor=factor * np.where(two, np.sqrt(2), 1.0) + np.where(twice, other.law.factor, 0.0),
            exact=self.exact + other.exact,
            raw=self.raw or other.raw,
            met=self.met or other.met,
            whole=self.whole and other.whole,
        )

    def kept(self, mask: Foreign) -> Noise:
        """The entries of a mask, and zeros elsewhere."""
        return self._with(
            draws=np.where(mask, self.draws, -1),
            sample=np.where(mask, self.sample, 0.0),
            exact=np.where(mask, self.exact, 0.0),
            scale=np.where(mask, self.law.scale, 0.0),
            factor=np.where(mask, self.law.factor, 0.0),
        )

    def settle(self) -> Foreign:
        """The release: public numbers from here on, but for elements that have no noise."""
        if self._settled is not None:
            return self._settled
        mask, out = self.draws >= 0, np.array(self.exact)
        if mask.any():
            law = Law(self.law.kind, self.law.scale[mask], self.law.factor[mask])
            out[mask] = self.ledger.release(
                law, self.draws[mask], self.exact[mask], self.sample[mask], self.met
            )
        if self.whole:
            out = np.rint(out).astype(np.int64)
        if self.ndim or self.bare_raw:
            self._settled = Raw.of(out, self.ledger, self.bare_raw)
        else:
            self._settled = out[()]
        return self._settled

    # ------------------------------------------------------------ protocols

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        return noise_ufunc(self.ledger, ufunc, method, inputs, out, kwargs)

    def __array_function__(self, function: Foreign, types: object, args: Foreign, kwargs: Foreign) -> Foreign:
        if function in LIKE and args and isinstance(args[0], Noise):
            return function(np.zeros(args[0].shape, args[0].dtype), *args[1:], **kwargs)
        moved = _rearranged(function, args, kwargs)
        if moved is not None:
            return moved
        if function is np.sum and len(args) == 1 and type(args[0]) is Noise:
            return args[0].sum(**kwargs)
        return function(*settled(tuple(args)), **{name: settled(value) for name, value in kwargs.items()})

    def __array__(self, dtype: Foreign = None, copy: Foreign = None) -> Foreign:
        return np.asarray(base(self), dtype=dtype)

    def __neg__(self) -> Foreign:
        return self.scaled(-1)

    def __pos__(self) -> Foreign:
        return self


def _rearranged(function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    """A triangle or the transpose of what still waits, without releasing it; None if it is something else."""
    value = args[0] if args else None
    if type(value) is Mixed:
        value = value.as_noise()
    if function not in (np.triu, np.tril, np.transpose) or type(value) is not Noise or value.is_settled:
        return None
    if function is np.transpose:
        return value.T if len(args) == 1 and not kwargs else None
    return None if value.raw else value.kept(function(np.ones(value.shape, bool), *args[1:], **kwargs))


def _binary(ufunc: np.ufunc, turned: bool) -> Foreign:
    def operate(self: Noise, other: Foreign) -> Foreign:
        if hasattr(type(other), "__pandas_priority__"):
            return NotImplemented  # pandas turns it round, and brings the array that it holds
        return ufunc(other, self) if turned else ufunc(self, other)

    return operate


_ROUNDINGS: Sequence[tuple[str, Foreign]] = (
    ("abs", np.abs),
    ("round", round),
    ("floor", np.floor),
    ("ceil", np.ceil),
    ("trunc", np.trunc),
)
for _name, _ufunc in OF_NUMBERS.items():
    setattr(Noise, f"__r{_name}__", _binary(_ufunc, True))
for _name, _ufunc in {**OF_NUMBERS, **COMPARING, "matmul": np.matmul}.items():
    setattr(Noise, f"__{_name}__", _binary(_ufunc, False))
answers(Noise, "settle", _ROUNDINGS)
