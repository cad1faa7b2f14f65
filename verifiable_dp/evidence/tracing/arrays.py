"""Tracked arrays: rewards that remember being raw.

`Raw` is an ndarray that knows whether raw rewards have entered it; asked for a decision (a branch, an index,
a position, text), it answers and leaves a lead. Noise is in `waiting_noise`.
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
import types

import numpy as np

from verifiable_dp.core.validate import Foreign, IntArray
from verifiable_dp.evidence.tracing import coins
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
LIKE = {np.zeros_like, np.empty_like, np.ones_like, np.full_like, np.shape, np.ndim, np.size}


class Waiting:
    """What waits for its noise to be released: `Noise`, and arrays some of whose entries do."""


def is_waiting(value: Foreign) -> bool:
    """Whether noise in it waits to be released."""
    return isinstance(value, Waiting)


def is_tracked(value: Foreign) -> bool:
    """Whether `value` is an array of this module."""
    return isinstance(value, Raw | Waiting)


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
    if is_waiting(value):
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
    if is_waiting(value):
        return value.settle()
    if type(value) in (tuple, list) and holds_tracked(value):
        return type(value)(settled(v) for v in value)
    return value


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
        if issubclass(type(origin), Raw):
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
            elif is_waiting(x):
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
        if function in LIKE:
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
        if is_waiting(value):
            value = value.as_noise()
            if value.wait_in(self, key):
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
        self._put(key, base(value))

    def _put(self, key: Foreign, value: Foreign) -> None:
        bare(self)[key] = value

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
    return isinstance(key, Raw | Waiting) or (
        type(key) is tuple and any(isinstance(k, Raw | Waiting) for k in key)
    )


def _in_place(name: str) -> Foreign:
    """Numbers are values: adding in place must not change what else holds them."""
    plain, inherited = getattr(operator, f"__{name}__"), getattr(np.ndarray, f"__i{name}__")

    def change(self: Raw, other: Foreign) -> Foreign:
        # `rows[i] += noise` puts back what it gives: the noise waits in `rows` for data that comes after it.
        waits = not self.own and is_waiting(other) and _put_back(sys._getframe(1))
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


def noise_ufunc(
    ledger: Ledger, ufunc: np.ufunc, method: str, inputs: Foreign, out: Foreign, kwargs: Foreign
) -> Foreign:
    """A ufunc of which an input still waits: sums and public multiples go on waiting, all else releases."""
    ledger.events += 1
    if any(type(x) is Raw and x.given for x in inputs):
        ledger.read()
    waiting = [x.as_noise() if is_waiting(x) else _gathered(x, ledger) for x in inputs]
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
    if not any(type(x) is Raw for x in entries) or any(map(is_waiting, entries)):
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
        return left.plus(right) if is_waiting(left) else right.plus(left)
    if ufunc is np.subtract:
        right = right.scaled(-1) if is_waiting(right) else np.multiply(right, -1)
        return left.plus(right) if is_waiting(left) else right.plus(left)
    if (is_waiting(left) and is_waiting(right)) or tainted([left, right]):
        return None
    if ufunc is np.multiply:
        return left.scaled(right) if is_waiting(left) else right.scaled(left)
    if ufunc is np.true_divide and is_waiting(left):
        with np.errstate(divide="ignore"):
            return left.scaled(1 / np.asarray(base(right), np.float64))
    return None
