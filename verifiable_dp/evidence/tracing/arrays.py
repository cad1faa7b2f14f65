"""Tracked arrays: rewards that remember being raw, noise that waits for the data it is added to.

`Raw` is an ndarray that knows whether raw rewards have entered it; asked for a decision (a branch, an index,
a position, text), it answers and leaves a lead. `Noise` stands for draws of a generator; it takes up what is
added to it and becomes a release, plain numbers, when it is first used for anything else: what is public
needs no tracking. `Mixed` is an array some of whose entries wait in this way.
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
import types
from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign, IntArray
from verifiable_dp.evidence.tracing import coins, laws
from verifiable_dp.evidence.tracing.laws import Law
from verifiable_dp.evidence.tracing.ledger import Flips, Ledger, Place, caller

# What keeps raw data raw is the default; these answer a question about it.
_POSITIONS = {
    np.argmax,
    np.argmin,
    np.argsort,
    np.argpartition,
    np.nanargmax,
    np.nanargmin,
    np.lexsort,
    np.nonzero,
    np.searchsorted,
    np.flatnonzero,
    np.argwhere,
    np.unique,
    np.digitize,
    np.array_equal,
    np.allclose,
}
_LIKE = {np.zeros_like, np.empty_like, np.ones_like, np.full_like, np.shape, np.ndim, np.size}
_NUMBERS = (np.ndarray, np.float64, np.int64)
_SETTLED_CLASS = object.__dict__["__class__"]


def is_tracked(value: Foreign) -> bool:
    """Whether `value` is an array of this module."""
    return isinstance(value, Raw | Noise)


def holds_tracked(value: Foreign) -> bool:
    """Whether a list or tuple holds tracked arrays at any depth."""
    if isinstance(value, list | tuple):
        return any(is_tracked(v) or (isinstance(v, list | tuple) and holds_tracked(v)) for v in value)
    return False


def bare(value: Foreign) -> Foreign:
    """The numbers of an array of this module, as they are."""
    return np.ndarray.view(value, np.ndarray)


def base(value: Foreign) -> Foreign:
    """The plain array under a tracked one, settled; anything else as it is."""
    kind = type(value)
    if kind is Raw:
        value.show()
        return bare(value)
    if kind is Mixed:
        return bare(value.settle())
    if kind is Noise:
        return base(value.settle())
    if kind in (tuple, list) and holds_tracked(value):
        return kind(base(v) for v in value)
    return value


def tainted(value: Foreign) -> bool:
    """Whether raw rewards have entered `value`, at any depth."""
    if isinstance(value, Raw):
        return value.tainted
    if isinstance(value, tuple | list):
        return any(tainted(v) for v in value)
    if isinstance(value, dict):
        return any(tainted(v) for v in value.values())
    return False


def settled(value: Foreign) -> Foreign:
    """The same with every pending draw released."""
    if isinstance(value, Noise | Mixed):
        return value.settle()
    if type(value) in (tuple, list) and holds_tracked(value):
        return type(value)(settled(v) for v in value)
    return value


def _wide(part: Foreign, shape: tuple[int, ...]) -> Foreign:
    return part if np.shape(part) == shape else np.broadcast_to(part, shape)


class Raw(np.ndarray):  # type: ignore[explicit-any]  # of numbers of any kind
    """An array that may hold raw rewards.

    Attributes
    ----------
    ledger
        Where leads go.
    tainted
        Whether raw rewards have entered it.
    own
        Whether it was made as a whole, not as a view, so that its entries may wait for noise.
    place
        Where raw rewards were first written into it; None if it was made from them.
    given
        Whether it is the table of rewards itself, or a part that the traced code has not used yet.
    uniform
        Numbers of the uniform draws that it holds; None if it holds something else.
    flips
        The coins that it shows; None if it shows none.
    """

    ledger: Ledger
    tainted: bool
    own: bool
    place: Place | None = None
    given: bool = False
    uniform: IntArray | None = None
    flips: Flips | None = None

    @classmethod
    def of(cls, values: Foreign, ledger: Ledger, tainted: bool = True) -> Raw:
        """Track a copy of `values`."""
        made = np.array(values).view(Raw)
        made.ledger, made.tainted, made.own = ledger, tainted, True
        return made

    def __array_finalize__(self, origin: Foreign) -> None:
        if type(origin) in (Raw, Mixed):
            self.ledger, self.tainted = origin.ledger, origin.tainted
            if type(origin) is Raw and origin.given:
                self.given = True
            if type(origin) is Raw:
                origin.show()
        self.own = False

    def show(self) -> None:
        """Whatever randomised response does not do with uniform draws and coins shows them."""
        if self.uniform is not None:
            self.ledger.show(self.uniform)
        if self.flips is not None:
            self.ledger.show(self.flips.draws)

    def left(self) -> None:
        """Note that raw rewards go where they are not followed."""
        if self.tainted:
            self.ledger.leave()

    def view(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's; rewards that are seen as a plain array are not followed."""
        kind = kwargs.get("type", args[-1] if args else None)
        if isinstance(kind, type) and issubclass(kind, np.ndarray) and not issubclass(kind, Raw):
            self.left()
        return np.ndarray.view(self, *args, **kwargs)

    def __reduce_ex__(self, protocol: Foreign) -> Foreign:
        self.left()
        return base(self).__reduce_ex__(protocol)

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """Of numbers, that of the number: code that asks whether it has a float is told so."""
        return self.dtype.type if self.ndim == 0 else type(self)

    def _wrap(self, result: Foreign, raw: bool) -> Foreign:
        if isinstance(result, np.ndarray):
            made = result.view(Raw)
        elif isinstance(result, np.generic):
            # A public number needs no tracking; an array does, for it may take raw numbers later.
            if not raw:
                return result
            made = np.asarray(result).view(Raw)
        elif isinstance(result, tuple | list):
            parts = (self._wrap(r, raw) for r in result)
            named = hasattr(result, "_fields")  # as what np.linalg.eigh returns
            return type(result)(*parts) if named else type(result)(parts)
        else:
            return result
        made.ledger, made.tainted, made.own = (
            self.ledger,
            raw,
            not isinstance(result, np.ndarray) or result.base is None,
        )
        return made

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Foreign, out: Foreign = None, **kwargs: Foreign
    ) -> Foreign:
        self.ledger.events += 1
        raw, plain, random = False, [], False
        for x in inputs:
            if type(x) is Raw:
                raw = raw or x.tainted
                random = random or x.uniform is not None or x.flips is not None
                if x.given:
                    self.ledger.read()
                plain.append(bare(x))
            elif isinstance(x, Noise | Mixed):
                return noise_ufunc(self.ledger, ufunc, method, inputs, out, kwargs)
            else:
                raw = raw or tainted(x)
                plain.append(base(x))
        if random:
            found = self._random(ufunc, inputs, plain, raw) if method == "__call__" and out is None else None
            if found is not None and not kwargs:
                return found
            for x in inputs:
                if type(x) is Raw:
                    x.show()
        if kwargs:
            raw = raw or tainted(kwargs)
            kwargs = {name: base(value) for name, value in kwargs.items()}
        if method == "at":
            return self._at(ufunc, inputs, plain, raw)
        if out is None:
            return self._wrap(getattr(ufunc, method)(*plain, **kwargs), raw)
        result = getattr(ufunc, method)(*plain, out=tuple(base(o) for o in out), **kwargs)
        for target in out:
            if isinstance(target, Raw):
                target.tainted = target.tainted or raw
        # A plain array that takes raw values in place goes on as a tracked one.
        return out[0] if isinstance(out[0], Raw) else self._wrap(result, raw)

    def _random(self, ufunc: np.ufunc, inputs: Foreign, plain: Foreign, raw: bool) -> Foreign:
        """Coins, or the bits that they turn; None if it is neither."""
        if raw:
            bits = coins.turned(self.ledger, ufunc, inputs, plain)
            if bits is None:
                bits = coins.drawn(self.ledger, ufunc, inputs, plain)
            return None if bits is None else self._wrap(bits, False)
        shown = coins.tossed(ufunc, inputs, plain, raw)
        if shown is None or not self.ledger.once(shown[1].draws, "asked" if len(inputs) > 1 else "negated"):
            return None
        made = self._wrap(shown[0], False)
        made.flips = shown[1]
        return made

    def _told(self, condition: Foreign, heads: Foreign, tails: Foreign) -> Foreign:
        """Raw bits or their opposites, as coins have it; None if it is something else."""
        if type(condition) is not Raw or condition.flips is None or not (tainted(heads) and tainted(tails)):
            return None
        bits = coins.told(self.ledger, condition, base(heads), base(tails))
        return None if bits is None else self._wrap(bits, False)

    def _at(self, ufunc: np.ufunc, inputs: Foreign, plain: Foreign, raw: bool) -> None:
        if tainted(inputs[1]):
            self.ledger.lead("index", plain[1])
        ufunc.at(*plain)
        if isinstance(inputs[0], Raw):
            inputs[0].tainted = inputs[0].tainted or raw

    def __array_function__(self, function: Foreign, types: object, args: Foreign, kwargs: Foreign) -> Foreign:
        ledger = self.ledger
        ledger.events += 1
        args, kwargs = settled(tuple(args)), {name: settled(value) for name, value in kwargs.items()}
        raw = tainted(args) or tainted(kwargs)
        if any(type(a) is Raw and a.given for a in args):
            ledger.read()
        bits = self._told(*args) if function is np.where and len(args) == 3 and not kwargs else None
        if bits is not None:
            return bits
        plain = [base(a) for a in args]
        named = {name: base(value) for name, value in kwargs.items()}
        result = function(*plain, **named)
        if function in _LIKE:
            raw = tainted(args[1:]) or tainted(kwargs)
        if function in _POSITIONS and raw:
            # The answer is a decision, told as such; what follows from it is not told once more.
            ledger.lead("argmax", result, plain[0])
            raw = False
        target = kwargs.get("out")
        if isinstance(target, Raw):
            target.tainted = target.tainted or raw
            return target
        if function in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal) and isinstance(
            args[0], Raw
        ):
            args[0].tainted = args[0].tainted or raw
        return self._wrap(result, raw)

    def argmax(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return np.argmax(self, *args, **kwargs)

    def argmin(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return np.argmin(self, *args, **kwargs)

    def argsort(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return np.argsort(self, *args, **kwargs)

    def nonzero(self) -> Foreign:
        """As numpy's."""
        return np.nonzero(self)

    def __getitem__(self, key: Foreign) -> Foreign:
        ledger = self.ledger
        ledger.events += 1
        if self.uniform is not None or self.flips is not None:
            self.show()
        if type(key) is not int and is_tracked_key(key):
            if tainted(key):
                ledger.lead("index", base(key))
            key = self._picking(key)
        found = bare(self)[key]
        if self.given and self.ndim == 2:
            ledger.reach(key)
        if isinstance(found, np.ndarray):
            made = found.view(Raw)
            made.ledger, made.tainted = ledger, self.tainted
        else:
            made = self._wrap(found, self.tainted)
        if self.given and isinstance(made, Raw):
            made.given = not ledger.read()  # an adapter only hands it on
        return made

    def _picking(self, key: Foreign) -> Foreign:
        """A key as a plain one; coins that pick raw entries for the first time may turn them afterwards."""
        if type(key) is Raw and key.flips is not None and self.tainted and id(key) not in self.ledger.picked:
            self.ledger.picked[id(key)] = key
            return bare(key)
        return base(key)

    def _turned(self, key: Foreign, value: Foreign) -> bool:
        """Whether coins turn the entries that they picked: `bits[coins] = 1 - bits[coins]`."""
        if type(key) is not Raw or key.flips is None or id(key) not in self.ledger.picked:
            return False
        picks: Foreign = bare(key)
        if not self.tainted or not tainted(value) or self.shape != picks.shape or picks.dtype != np.bool_:
            return False
        bits, values = bare(self), np.asarray(base(value))
        opposite = (1 - bits) if bits.dtype != np.bool_ else ~bits
        opposite = opposite if np.array_equal(values, opposite[picks]) else 0 - bits
        if not np.array_equal(values, opposite[picks]):
            return False
        told = coins.told(self.ledger, key, opposite, bits)
        if told is None:
            return False
        del self.ledger.picked[id(key)]
        bits[...], self.tainted = told, False
        return True

    def __setitem__(self, key: Foreign, value: Foreign) -> None:
        self.ledger.events += 1
        if self.uniform is not None or self.flips is not None:
            self.show()
        if is_tracked_key(key):
            if tainted(key):
                self.ledger.lead("index", base(key))
            if type(self) is Raw and self._turned(key, value):
                return
            key = base(key)
        if isinstance(value, Noise | Mixed):
            value = value if isinstance(value, Noise) else value.as_noise()
            if hold(self, key, value):
                return
            value = value.settle()
        if type(value) is Raw and value.given:
            self.ledger.read()
        if not self.tainted:
            self.tainted = tainted(value)
            if self.tainted:
                self.place = caller(self.ledger.files)
        elif key is Ellipsis or (type(key) is slice and key == slice(None)):
            self.tainted = tainted(value)
        if type(self) is Mixed:
            self.pending.draws[key] = -1
        bare(self)[key] = base(value)

    def __iter__(self) -> Foreign:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Foreign) -> bool:
        return bool((self == value).any())

    def _asked(self, what: str, answer: Foreign) -> Foreign:
        """The answer of the plain array, and a lead if that array is raw."""
        found = answer(base(self))
        if type(self) is Raw and self.given:
            self.ledger.read()
        if self.tainted:
            self.ledger.lead(what, found, base(self))
        return found

    def __bool__(self) -> bool:
        return bool(self._asked("branch", bool))

    def __index__(self) -> int:
        return int(self._asked("index", operator.index))

    def __int__(self) -> int:
        return int(self._asked("number", int))

    def __float__(self) -> float:
        return float(self._asked("number", float))

    def as_integer_ratio(self) -> Foreign:
        """As a float's."""
        return float(self).as_integer_ratio()

    def is_integer(self) -> Foreign:
        """As a float's."""
        return np.equal(self, np.floor(self))

    def __round__(self, digits: int | None = None) -> Foreign:
        return np.round(self, digits or 0)

    def __floor__(self) -> Foreign:
        return np.floor(self)

    def __ceil__(self) -> Foreign:
        return np.ceil(self)

    def __trunc__(self) -> Foreign:
        return np.trunc(self)

    def item(self, *args: Foreign) -> Foreign:
        """As numpy's."""
        return self._asked("number", lambda plain: plain.item(*args))

    def tolist(self) -> Foreign:
        """Lists of tracked numbers."""
        if not self.tainted:
            return base(self).tolist()
        return (
            [self[i].tolist() if self.ndim > 1 else self[i] for i in range(len(self))] if self.ndim else self
        )

    def __format__(self, spec: str) -> str:
        return str(self._asked("text", lambda p: format(p.item() if p.ndim == 0 else p, spec)))

    def __repr__(self) -> str:
        return str(self._asked("text", repr))

    def __str__(self) -> str:
        return str(self._asked("text", str))

    def __hash__(self) -> int:  # type: ignore[override]
        return int(self._asked("index", lambda plain: hash(plain.item())))


def _unseen(name: str) -> Foreign:
    """A way out of numpy, by which rewards leave as they are."""

    def leave(self: Raw) -> Foreign:
        self.left()
        return getattr(super(Raw, self), name)

    return property(leave)


_MEMORY = ("data", "ctypes", "flat", "tobytes", "tofile", "dump", "dumps")
_BUFFER = ("__buffer__",) if sys.version_info >= (3, 12) else ()
for _name in (*_MEMORY, *_BUFFER, "__array_interface__", "__array_struct__"):
    setattr(Raw, _name, _unseen(_name))


def is_tracked_key(key: Foreign) -> bool:
    """Whether an index is or holds a tracked array."""
    return isinstance(key, Raw | Noise) or (
        type(key) is tuple and any(isinstance(k, Raw | Noise) for k in key)
    )


def _in_place(name: str) -> Foreign:
    """Numbers are values: adding in place must not change what else holds them."""
    plain, inherited = getattr(operator, f"__{name}__"), getattr(np.ndarray, f"__i{name}__")

    def change(self: Raw, other: Foreign) -> Foreign:
        # `rows[i] += noise` puts back what it gives: the noise waits in `rows` for data that comes after it.
        waits = not self.own and isinstance(other, Noise | Mixed) and _put_back(sys._getframe(1))
        return plain(self, other) if self.ndim == 0 or waits else inherited(self, other)

    return change


@functools.lru_cache(maxsize=256)
def _ops(code: types.CodeType) -> tuple[tuple[int, str], ...]:
    return tuple((op.offset, op.opname) for op in dis.get_instructions(code))


def _put_back(frame: types.FrameType) -> bool:
    """Whether what this frame works out is stored as an item next, as by `rows[i] += ...`."""
    after = (name for at, name in _ops(frame.f_code) if at > frame.f_lasti)
    return next((name for name in after if name not in ("SWAP", "CACHE")), "") == "STORE_SUBSCR"


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Raw, f"__i{_name}__", _in_place(_name))


class Mixed(Raw):
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
        if isinstance(value, Noise | Mixed):
            Raw.__setitem__(self, key, value)
            return
        if is_tracked_key(key):
            if tainted(key):
                self.ledger.lead("index", base(key))
            key = base(key)
        self.pending.draws[key] = -1
        self.tainted = self.tainted or tainted(value)
        bare(self)[key] = base(value)

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


class Noise:
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
        if function in _LIKE and args and isinstance(args[0], Noise):
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


def answers(kind: type, settle: str, more: Sequence[tuple[str, Foreign]] = ()) -> None:
    """Have a class answer what Python asks of a number as the number does that `settle` gives."""

    def unary(of: Foreign) -> Foreign:
        return lambda self, *args: of(getattr(self, settle)(), *args)

    for name, of in (*_ASKED, *more):
        setattr(kind, f"__{name}__", unary(of))


OF_NUMBERS: dict[str, Foreign] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
COMPARING: dict[str, Foreign] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_ASKED: Sequence[tuple[str, Foreign]] = (
    *(("float", float), ("int", int), ("index", operator.index), ("bool", bool)),
    *(("hash", hash), ("format", format), ("repr", repr)),
)
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


def noise_ufunc(
    ledger: Ledger, ufunc: np.ufunc, method: str, inputs: Foreign, out: Foreign, kwargs: Foreign
) -> Foreign:
    """A ufunc of which an input still waits: sums and public multiples go on waiting, all else releases."""
    ledger.events += 1
    if any(type(x) is Raw and x.given for x in inputs):
        ledger.read()
    waiting = [x.as_noise() if isinstance(x, Mixed) else _gathered(x, ledger) for x in inputs]
    if method == "__call__" and not kwargs:
        linear = _linear(ufunc, waiting)
        if linear is not None:
            if out is None:
                return linear
            if isinstance(out[0], Raw) and out[0].shape == getattr(linear, "shape", None):
                out[0][...] = linear
                return out[0]
    # An array that waits is released as itself, so that it is released once.
    plain = [settled(x) for x in inputs]
    if out is not None:
        kwargs = {**kwargs, "out": tuple(settled(o) for o in out)}
        kwargs["out"] = kwargs["out"] if len(kwargs["out"]) > 1 else kwargs["out"][0]
    return getattr(ufunc, method)(*plain, **kwargs)


def _gathered(value: Foreign, ledger: Ledger) -> Foreign:
    """Tracked numbers in an array of objects, as pandas keeps them, as one tracked array; else as it is."""
    if type(value) is not np.ndarray or value.dtype != object:
        return value
    entries = value.ravel().tolist()
    if not any(type(x) is Raw for x in entries) or any(isinstance(x, Noise | Mixed) for x in entries):
        return value
    try:
        numbers = np.array([base(x) for x in entries]).reshape(value.shape)
    except ValueError:
        return value
    return Raw.of(numbers, ledger, tainted(entries)) if numbers.dtype.kind in "fiub" else value


def _linear(ufunc: np.ufunc, inputs: Foreign) -> Foreign:
    """The sum or multiple that still waits; None if it is neither."""
    if len(inputs) == 1:
        return inputs[0].scaled(-1) if ufunc is np.negative else None
    left, right = inputs[0], inputs[1]
    if ufunc is np.add:
        return left.plus(right) if isinstance(left, Noise) else right.plus(left)
    if ufunc is np.subtract:
        right = right.scaled(-1) if isinstance(right, Noise) else np.multiply(right, -1)
        return left.plus(right) if isinstance(left, Noise) else right.plus(left)
    both = isinstance(left, Noise) and isinstance(right, Noise)
    if both or tainted([left, right]):
        return None
    if ufunc is np.multiply:
        return left.scaled(right) if isinstance(left, Noise) else right.scaled(left)
    if ufunc is np.true_divide and isinstance(left, Noise):
        with np.errstate(divide="ignore"):
            return left.scaled(1 / np.asarray(base(right), np.float64))
    return None
