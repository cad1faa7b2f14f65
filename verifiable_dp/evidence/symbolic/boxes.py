"""Arrays whose entries may be terms, and what NumPy's functions do with them.

A function of public numbers is NumPy's own. A function of terms is one of those below; any other shows what
has noise, and ends the bound if raw rewards are among its arguments.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Sequence

import numpy as np

from verifiable_dp.core.validate import NUMBERS_OR_BITS, Foreign, Function
from verifiable_dp.evidence.symbolic import (
    adding,
    answers,
    atoms,
    comparing,
    elementary,
    matrices,
    multiplying,
    term_operators,
    terms,
    users,
)
from verifiable_dp.evidence.symbolic.ends import Ends
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.python_operators import ARITHMETIC, COMPARING

_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}


def objects(values: Foreign, shape: tuple[int, ...]) -> Foreign:
    """An array of objects with these entries."""
    # Not by a slice, before which NumPy looks for an array in every entry.
    return np.fromiter(values, object, len(values)).reshape(shape)


def _hidden(value: Foreign) -> bool:
    """Whether an entry is anything but a plain number."""
    return is_term(value) or _is_lazy(value)


def _is_lazy(value: Foreign) -> bool:
    """Whether it is a random number that is public once it is used."""
    return bool(nature(value))


def _of_own(value: Foreign) -> bool:
    return type(value) in (Box, Term) or _is_lazy(value)


def has_own(value: Foreign) -> bool:
    """Whether tracked numbers or arrays stand in a value, at any depth."""
    if type(value) in (list, tuple):
        return any(has_own(v) for v in value)
    return _of_own(value) or (type(value) is np.ndarray and value.dtype == object)


_NEVER = frozenset((bool, int, float, np.bool_, np.int64, np.float64))


def has_terms(value: Foreign) -> bool:
    """Whether numbers that were not shown stand in a value."""
    if type(value) is Box:
        if value.known is not None:
            return False
        found = value.data.ravel().tolist()
        return not _NEVER.issuperset(map(type, found)) and any(map(_hidden, found))
    if type(value) in (list, tuple):
        return any(has_terms(v) for v in value)
    if type(value) is np.ndarray and value.dtype == object:
        return any(_hidden(v) for v in value.ravel().tolist())
    return _hidden(value)


class BoxMemory:
    """What arrays without tracked entries share: NumPy's own, until something tracked is written there.

    Parameters
    ----------
    plain
        All of it.

    Attributes
    ----------
    objects
        The same as objects, in the same order; None before it is needed.
    is_seen
        Whether a plain array shares it, in which nobody would see what is written here.
    """

    def __init__(self, plain: Foreign) -> None:
        self.plain, self.is_seen = plain, False
        self.objects: Foreign = None

    def as_objects(self, part: Foreign) -> Foreign:
        """A part of it as objects."""
        if self.objects is None:
            self.objects = np.empty_like(self.plain, object)
            self.objects[...] = self.plain
        return counterpart(part, self.plain, self.objects)


def counterpart(part: Foreign, whole: Foreign, other: Foreign) -> Foreign:
    """What `part` is of `whole`, of another array with the same form, whose entries lie in the same order."""
    if not part.size:
        return np.empty(part.shape, other.dtype)
    flat = other.ravel(order="K")  # no copy: neither has gaps
    first = (_address(part) - _address(whole)) // whole.itemsize
    strides = tuple(step // whole.itemsize * other.itemsize for step in part.strides)
    return np.lib.stride_tricks.as_strided(flat[first:], part.shape, strides)


def _steps(array: Foreign) -> list[int]:
    """From one entry to the next, along axes that have more than one."""
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


def _address(array: Foreign) -> int:
    return int(array.__array_interface__["data"][0])


def given_back(
    found: Foreign, given: Sequence[tuple[Foreign, Foreign]], made: Callable[[Foreign], Foreign]
) -> Foreign:
    """What NumPy made of plain arrays in place of boxes: what shares memory with one is a part of that box.

    NumPy alone says what shares memory; anything else is what `made` says.
    """

    def part(one: Foreign) -> Foreign:
        if type(one) is np.ndarray:
            for box, array in given:
                if np.may_share_memory(one, array):
                    return box.shared(one, array)
        return made(one)

    return each(part, found)


class Box(terms.ForNumPy):
    """An array; its entries are public numbers, terms and uniform draws.

    As long as none of them is tracked, nor of those that share its memory, it is NumPy's own array.
    """

    __array_priority__ = 4000.0

    def __init__(
        self, world: World, data: Foreign, kind: str, narrow: Foreign = None, memory: BoxMemory | None = None
    ) -> None:
        self.world, self.kind = world, kind
        self.narrow = narrow  # a type of NumPy's that holds less than 64 bits
        self._plain: Foreign = None if data.dtype == object else data
        self._data: Foreign = data if data.dtype == object else None
        self._memory = memory or (BoxMemory(data) if self._plain is not None else None)

    @property
    def known(self) -> Foreign:
        """NumPy's own array; None if something tracked stands or stood in its memory."""
        return self._plain if self._memory is not None and self._memory.objects is None else None

    @property
    def data(self) -> Foreign:
        """Its entries as objects, to be read and written."""
        if self._data is None:
            memory: Foreign = self._memory
            if memory.objects is None and memory.is_seen:
                raise self.world.stop("data or noise are written to memory that a plain array shares")
            self._data = memory.as_objects(self._plain)
        return self._data

    @property
    def held(self) -> Foreign:
        """NumPy's own array, or its entries as objects."""
        known = self.known
        return self.data if known is None else known

    @classmethod
    def of(cls, world: World, data: Foreign) -> Box:
        """An array of objects, with the type that its entries have."""
        kinds = {_kind_of(v) for v in data.ravel().tolist()} or {"f"}
        return cls(world, data, "f" if kinds & {"f", "?"} else "i" if "i" in kinds else "b")

    def settle_type(self) -> None:
        """End the bound if data decide whether it holds floats: then what is written into it may be cut."""
        if self.world.mixes_types and self._data is not None and self.kind == "f":
            kinds = {_kind_of(v) for v in self._data.ravel().tolist()}
            if "?" in kinds and "f" not in kinds:
                raise self.world.stop_raw("the type of an array depends on raw {data}")

    def shared(self, part: Foreign, array: Foreign) -> Foreign:
        """Of a part of a plain array that stands for it, the same part of it."""
        if array.dtype == object and part.dtype == object:
            return Box(self.world, part, self.kind, self.narrow)
        if array is self.known:
            if part.dtype == array.dtype:
                return self._same(part)
            self._memory.is_seen = True  # type: ignore[union-attr]
            return part
        if part.dtype != array.dtype or _steps(self.data) != _steps(array):  # as those of objects
            raise self.world.stop("part of an array is used in a way that we cannot follow")
        return Box(self.world, counterpart(part, array, self.data), self.kind, self.narrow)

    # ------------------------------------------------------------ form

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """An array's."""
        return np.ndarray

    shape = property(lambda self: self._form.shape)
    ndim = property(lambda self: self._form.ndim)
    size = property(lambda self: self._form.size)
    _form = property(lambda self: self._data if self._plain is None else self._plain)
    dtype = property(lambda self: self.narrow or np.dtype(_KINDS[self.kind]))
    T = property(lambda self: self._same(self.held.T))
    flat = property(lambda self: iter(self.ravel()))
    real = property(lambda self: self)
    nbytes = property(lambda self: 8 * self.size)

    def __len__(self) -> int:
        return len(self._form)

    def _key(self, key: Foreign) -> Foreign:
        return plain(self.world, key, "raw {data} are used as an index")

    def __getitem__(self, key: Foreign) -> Foreign:
        if nature(key) == "pick":
            return key.chosen(self)
        if getattr(type(key), "shows", False):
            return key.taken(self)
        if self.world.joint and type(key) is tuple and len(key) == 2:
            if nature(key[1]) == "pick":
                return self[key[0]][key[1]]
            own = entries(self.world, key[1]) if type(key[1]) is Box and key[1].ndim == 1 else []
            if any(nature(v) == "pick" for v in own):
                rows = np.ravel(decided(self.world, key[0])).tolist()
                return wrapped(self.world, [self[t][v] for t, v in zip(rows, own, strict=True)])
        if (
            type(key) is Box
            and key.kind == "b"
            and key.shape == self.shape
            and _of_coins(key)
            and has_terms(self)
        ):
            return Sampled(key.copy(), self.copy())
        if self.ndim and comparing.is_place(key, len(self)):
            found = looked_up(self.world, np.array(self.held.tolist()), key)
            if found is not None:
                return found
        return self._found(self.held[key if type(key) in (int, slice) else self._key(key)])

    def _found(self, found: Foreign) -> Foreign:
        if type(found) is np.ndarray:
            return self._same(found)
        return _scalar(found, self.kind, self.narrow)

    def __setitem__(self, key: Foreign, value: Foreign) -> None:
        self.world.count()
        self.settle_type()
        if self.narrow is not None:
            _fitting(self.world, value, self.narrow)
        if type(value) is Box:
            value = value if value.kind == self.kind != "b" else value.astype(_KINDS[self.kind])
            if self.known is not None and not has_terms(value):
                self.known[self._key(key)] = plain(self.world, value, "")
            else:
                self.data[self._key(key)] = as_objects(self.world, value)
            return
        if type(value) in (list, tuple) or type(value) is np.ndarray:
            self[key] = wrapped(self.world, value)
            return
        if self.ndim == 1 and comparing.is_place(key, len(self)):
            for i in range(len(self)):
                bits = (int(v) if isinstance(v, bool | np.bool_) else v for v in (value, self[i]))
                self.data[i] = _where(self.world, comparing.equal(key, i), *bits)
            return
        key, made = self._key(key), self._entry(value)
        if self.known is not None and type(made) in _NEVER:
            self.known[key] = made
        elif type(self.data[key]) is np.ndarray:
            self.data[key] = (
                objects([made], ())[()] if not _hidden(made) else _filled(self.data[key].shape, made)
            )
        else:
            self.data[key] = made

    def _entry(self, value: Foreign) -> Foreign:
        value = number(value)
        if self.world.joint and type(value) is answers.Position:
            return value
        if _is_lazy(value):
            keeps = self.kind == "f" and nature(value) == "uniform"
            return value if keeps else elementary.cast(value.plain(), self.kind)
        return elementary.cast(value, self.kind)

    def __iter__(self) -> Foreign:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Foreign) -> bool:
        return bool((self == value).any())

    def _same(self, data: Foreign) -> Box:
        """A part of it, or an array of its own."""
        memory = self._memory
        shares = memory is not None and data.dtype != object and np.may_share_memory(data, memory.plain)
        return Box(self.world, data, self.kind, self.narrow, memory if shares else None)

    def reshape(self, *shape: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        shape = plain(self.world, shape, "raw {data} determine the shape of an array")
        return self._same(self.held.reshape(*shape, **kwargs))

    def copy(self, *args: Foreign) -> Foreign:
        """As an array's."""
        return self._same(self.held.copy(*args))

    __copy__ = copy

    def __deepcopy__(self, memo: Foreign) -> Foreign:
        return self.copy()

    def __reduce_ex__(self, protocol: Foreign) -> Foreign:
        raise self.world.stop("numbers are written out")

    def fill(self, value: Foreign) -> None:
        """As an array's."""
        self[...] = value

    def tolist(self) -> Foreign:
        """As an array's."""
        if self.known is not None:
            return self.known.tolist()
        if not self.ndim:
            return _scalar(self.data[()], self.kind)
        return [entry.tolist() if type(entry) is Box else _python(entry) for entry in self]

    def item(self, *args: Foreign) -> Foreign:
        """As an array's."""
        return _python(_scalar(self.held.item(*args), self.kind))

    def astype(self, dtype: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        wanted = np.dtype(_type(dtype))
        if self.known is not None or wanted == self.dtype:
            held = self.held
            found = held.astype(wanted if held is self.known else object, **kwargs)
            return given_back(found, [(self, held)], lambda one: like(self, one))
        kind = "i" if wanted.kind == "u" else wanted.kind
        narrow = _fitting(self.world, self, wanted)
        if kind == self.kind != "b":
            return Box(self.world, self.data.copy(), kind, narrow)
        made = [
            v
            if (nature(v) == "uniform" and kind == "f") or nature(v) == "coin"
            else elementary.cast(v.plain() if _is_lazy(v) else v, kind)
            for v in self.data.ravel().tolist()
        ]
        return Box(self.world, objects(made, self.shape), kind, narrow)

    # ------------------------------------------------------------ protocols

    def __array__(self, dtype: Foreign = None, copy: Foreign = None) -> Foreign:
        made = np.asarray(
            plain(self.world, self, "raw {data} are in an array that we cannot trace further"), dtype=dtype
        )
        made.flags.writeable = False  # what is written into a copy would be lost
        return made

    def _one(self) -> Foreign:
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous")
        return self.held.ravel()[0]

    def __bool__(self) -> bool:
        return bool(self._one())

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __index__(self) -> int:
        return operator.index(_scalar(self._one(), self.kind))

    def __repr__(self) -> str:
        return repr(plain(self.world, self, "raw {data} are converted to text"))

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        if name in _IN_PLACE:
            raise self.world.stop(f".{name} changes an array in a way that we cannot follow")
        function = getattr(np, name, None)
        if callable(function):
            return functools.partial(_method, self, function)
        if has_terms(self):
            raise self.world.stop_raw(f"we cannot bound how much .{name} of raw {{data}} changes")
        array = _readable(self.world, self, "")
        found = getattr(array, name)
        given = [(self, array)]
        if not callable(found):
            return given_back(found, given, lambda one: one)
        return lambda *args, **kwargs: given_back(found(*args, **kwargs), given, lambda one: one)

    def conj(self) -> Foreign:
        """As an array's of real numbers."""
        return self

    conjugate = conj

    def sort(self, *args: Foreign, **kwargs: Foreign) -> None:
        """As an array's."""
        self[...] = calling(self.world, np.sort, (self, *args), kwargs)


def _of_coins(key: Box) -> bool:
    bits = [] if key.known is not None else key.data.ravel().tolist()
    return any(nature(v) == "coin" for v in bits) and not any(map(is_term, bits))


class Sampled:
    """The entries of an array that coins keep: in their sum an entry is 0 where its coin is against it.

    Whatever else is asked of them shows the coins.

    Parameters
    ----------
    mask
        The coins, of the same shape.
    box
        All entries.
    """

    __array_priority__ = 6000.0

    def __init__(self, mask: Box, box: Box) -> None:
        self._mask, self._box = mask, box

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """An array's."""
        return np.ndarray

    def again(self, box: Box) -> Sampled:
        """Other entries that the same coins keep."""
        return Sampled(self._mask, box)

    def shown(self) -> Foreign:
        """The entries whose coins fell for them."""
        return self._box[decided(self._box.world, self._mask)]

    def sum(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        if args or kwargs:
            return self.shown().sum(*args, **kwargs)
        return calling(self._box.world, np.sum, (_where(self._box.world, self._mask, self._box, 0.0),), {})

    def __array_ufunc__(self, ufunc: Foreign, method: str, *inputs: Foreign, **kwargs: Foreign) -> Foreign:
        if method == "__call__" and not kwargs and not any(np.ndim(v) for v in inputs if v is not self):
            values = [self._box if v is self else v for v in inputs]
            return self.again(on_arrays(self._box.world, ufunc, method, values, None, {}))
        values = [v.shown() if isinstance(v, Sampled) else v for v in inputs]
        return on_arrays(self._box.world, ufunc, method, values, kwargs.pop("out", None), kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        if function is np.sum and len(args) == 1 and not kwargs:
            return self.sum()
        if function is np.clip and args[0] is self and not any(map(np.ndim, (*args[1:], *kwargs.values()))):
            return self.again(calling(self._box.world, function, (self._box, *args[1:]), kwargs))
        args = [v.shown() if isinstance(v, Sampled) else v for v in args]
        return calling(self._box.world, function, args, kwargs)

    def clip(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        return self.__array_function__(np.clip, (), (self, *args), kwargs)

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.shown(), name)


def of_shown(name: str) -> Foreign:
    """A method that shows what is hidden first."""
    return lambda self, *args, **kwargs: getattr(self.shown(), name)(*args, **kwargs)


def _of_sampled(ufunc: Foreign, turned: bool) -> Foreign:
    return lambda self, other: self.__array_ufunc__(
        ufunc, "__call__", *((other, self) if turned else (self, other))
    )


for _name in (
    *("len", "iter", "getitem", "contains", "bool", "float", "int", "array", "repr", "deepcopy"),
    *("eq", "ne", "lt", "le", "gt", "ge", "pow", "neg", "abs"),
):
    setattr(Sampled, f"__{_name}__", of_shown(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv"):
    for _side in ("", "r"):
        setattr(Sampled, f"__{_side}{_name}__", _of_sampled(ARITHMETIC[_name], bool(_side)))
_IN_PLACE = ("partition", "resize", "put", "itemset", "setfield", "byteswap", "setflags")


def _method(box: Box, function: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
    return calling(box.world, function, (box, *args), kwargs)


def _binary(ufunc: Foreign, turned: bool) -> Foreign:
    def operate(self: Foreign, other: Foreign) -> Foreign:
        if other is None or isinstance(other, str):
            return NotImplemented
        return on_arrays(self.world, ufunc, "__call__", (other, self) if turned else (self, other), None, {})

    return operate


def _in_place(ufunc: Foreign) -> Foreign:
    def operate(self: Foreign, other: Foreign) -> Foreign:
        self[...] = on_arrays(self.world, ufunc, "__call__", (self, other), None, {})
        return self

    return operate


def _part_of(name: str) -> Foreign:
    def part(self: Box, *args: Foreign) -> Foreign:
        """As numpy's."""
        return self._same(getattr(self.held, name)(*args))

    return part


for _name in ("ravel", "flatten", "transpose", "squeeze", "diagonal"):
    setattr(Box, _name, _part_of(_name))
for _name, _ufunc in ARITHMETIC.items():
    setattr(Box, f"__{_name}__", _binary(_ufunc, False))
    setattr(Box, f"__r{_name}__", _binary(_ufunc, True))
    setattr(Box, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in COMPARING.items():
    setattr(Box, f"__{_name}__", _binary(_ufunc, False))
for _name, _one in {"neg": np.negative, "abs": np.abs, "invert": np.invert, "pos": np.positive}.items():
    setattr(
        Box, f"__{_name}__", lambda self, _u=_one: on_arrays(self.world, _u, "__call__", (self,), None, {})
    )
for _name in ("matmul", "rmatmul"):
    setattr(
        Box,
        f"__{_name}__",
        lambda self, other, _turn=_name == "rmatmul": calling(
            self.world, np.dot, (other, self) if _turn else (self, other), {}
        ),
    )


# ---------------------------------------------------------------- to and from plain values


def _type(dtype: Foreign) -> Foreign:
    """A type of NumPy's, also where a stand-in for `float` or `int` was given."""
    return getattr(dtype, "stands_for", dtype)


def _fitting(world: World, value: Foreign, dtype: Foreign) -> Foreign:
    """The type, if it holds less than 64 bits; the bound ends if it may not hold the raw numbers.

    What overflows or is rounded there moves further than what it was made of.
    """
    if dtype.kind == "b" or (dtype.kind in "fi" and dtype.itemsize >= 8):
        return None
    for entry in entries(world, value):
        drawn = nature(entry) == "uniform" or (is_term(entry) and entry.noise)
        if drawn and dtype.itemsize < 4 + 4 * (dtype.kind == "f"):
            raise world.stop(f"noise is converted to type {dtype}, which has too few digits")
        if drawn or not is_term(entry):
            continue
        size = builtins.max(map(abs, entry.range()))
        step = builtins.min(
            (abs(m) for move in atoms.moves_of(entry.raw).values() for m in move if m), default=1
        )
        if not (
            (dtype == np.int32 and size <= 2**20) or (dtype == np.float32 and size <= 1e-4 * 2**23 * step)
        ):
            raise world.stop_raw(f"raw {{data}} are converted to type {dtype}, which has too few digits")
    return dtype


def _kind_of(value: Foreign) -> str:
    if is_term(value):
        return {"truth": "b", "either": "?"}.get(value.type) or ("i" if value.whole else "f")
    if nature(value) == "coin" or isinstance(value, bool | np.bool_):
        return "b"
    if nature(value) in ("uniform", "veiled"):
        return "f"
    return "i" if isinstance(value, int | np.integer) else "f"


def _scalar(value: Foreign, kind: str, narrow: Foreign = None) -> Foreign:
    if _of_own(value):
        found = number(value)
        if narrow is not None and is_term(found):
            loose = found.loose
            found = terms.Term(found.world, found.const, found.raw, found.noise, found.whole, found.ratio)
            found.type, found.loose = "narrow", loose
        return found
    return _KINDS[kind](value)


def _python(value: Foreign) -> Foreign:
    return value.item() if issubclass(type(value), np.generic) else value


def _filled(shape: tuple[int, ...], value: Foreign) -> Foreign:
    return objects([value] * int(np.prod(shape)), shape)


def _shown(world: World, value: Foreign, what: str, why: Ends = Ends.DATA) -> Foreign:
    """A plain number; the bound ends if it is raw."""
    if _is_lazy(value):
        value = value.plain()
    value = number(value)
    return value.public(what, why) if type(value) is Term else value


def plain(world: World, value: Foreign, what: str, why: Ends = Ends.DATA) -> Foreign:
    """The same with plain numbers: what has noise is shown, and raw data ends the bound."""
    if type(value) is Box:
        if value.world is not world:
            raise world.stop("a run uses numbers of another run: the code keeps state between runs")
        if value.known is not None:
            return value.known.copy()
        found: Foreign = np.empty_like(value.data, _KINDS[value.kind])
        found[...] = np.frompyfunc(lambda v: _shown(world, v, what, why), 1, 1)(value.data)
        return found
    if _of_own(value):
        return _shown(world, value, what, why)
    if getattr(type(value), "shows", False):
        return plain(world, value.shown(), what, why)
    if type(value) in (list, tuple):
        return type(value)(plain(world, v, what, why) for v in value) if has_own(value) else value
    if type(value) is np.ndarray and value.dtype == object and has_own(value):
        return plain(world, Box.of(world, value), what, why)
    return value


def decided(world: World, value: Foreign) -> Foreign:
    """As `plain`, of what decides which position is chosen."""
    return plain(world, value, _DECIDES, Ends.POSITION)


def like(box: Box, made: Foreign) -> Foreign:
    """An array that was made of what a box holds, in memory of its own."""
    if made.dtype != object:
        return wrapped(box.world, made)
    return Box(box.world, made, box.kind, box.narrow)


def _readable(world: World, value: Foreign, what: str) -> Foreign:
    """As `plain`: NumPy's own array where that is known, else one into which nothing can be written."""
    if type(value) is Box and value.known is not None and value.world is world:
        return value.known
    found = plain(world, value, what)
    if type(value) is Box and found.ndim:
        found.flags.writeable = False  # it would be lost
    return found


def wrapped(world: World, value: Foreign) -> Foreign:
    """Arrays and nested lists as boxes, scalars as they are."""
    if type(value) is Box or not isinstance(value, np.ndarray | list | tuple):
        return value
    if type(value) is np.ndarray:
        if value.dtype.kind in "fiub":
            kind = "i" if value.dtype.kind == "u" else value.dtype.kind
            if value.dtype.type in _NEVER:
                return Box(world, value.copy(order="K"), kind)
            whole = value.dtype.kind == "b" or (value.dtype.itemsize >= 8 and value.dtype.kind != "u")
            return Box(world, value.astype(object), kind, None if whole else value.dtype)
        return Box.of(world, value) if value.dtype == object and has_own(value) else value
    nested = _nested(value)
    made = np.array(nested, dtype=object)
    if not made.size:
        return Box(world, made.reshape(np.shape(value)), "f")
    if not all(_hidden(v) or isinstance(v, NUMBERS_OR_BITS) for v in made.ravel().tolist()):
        return np.array(value)
    return Box.of(world, made)


def _nested(value: Foreign) -> Foreign:
    if type(value) is Box:
        return _nested(value.held)
    if type(value) is np.ndarray:
        return [_nested(v) for v in value] if value.ndim else value[()]
    if type(value) in (list, tuple):
        return [_nested(v) for v in value]
    return number(value)


def entries(world: World, value: Foreign) -> list[Foreign]:
    """The entries of an array or list, in order."""
    made = wrapped(world, value)
    return made.held.ravel().tolist() if type(made) is Box else [made]


def taken(world: World, values: Foreign, index: Foreign) -> Foreign:
    """Entries of an array or list."""
    return wrapped(world, values)[index]


# ---------------------------------------------------------------- elementwise functions


def _compare(strict: bool, turned: bool) -> Callable[[Foreign, Foreign], Foreign]:
    def compare(left: Foreign, right: Foreign) -> Foreign:
        if turned:
            left, right = right, left
        if _is_lazy(left) or _is_lazy(right):
            return left > right
        return comparing.above(left, right, strict=strict)

    return compare


def _either(of_uniform: Foreign, of_term: Foreign) -> Callable[[Foreign], Foreign]:
    """A function of one number."""

    def call(value: Foreign) -> Foreign:
        if nature(value) in ("uniform", "coin"):
            return value.through(of_uniform)
        return of_term(value)

    return call


def _is_bit(value: Foreign) -> bool:
    """Whether a number is 0 or 1, or a truth value."""
    if not is_term(value):
        return isinstance(value, int | np.integer | np.bool_) and value in (0, 1)
    low, high = value.range()
    return bool(value.whole and low >= 0 and high <= 1)


def _truth(value: Foreign) -> Foreign:
    if not (is_term(value) and not value.noise):
        return bool(value)
    return value if _is_bit(value) else comparing.negated(comparing.equal(value, 0))


def _with_a_bit(of: Foreign, left: Foreign, right: Foreign) -> Foreign:
    """What a public truth value makes of a coin, which stays hidden; None of anything else."""
    for coin, bit in ((left, right), (right, left)):
        if (
            of in (_both, _one_of)
            and nature(coin) == "coin"
            and isinstance(bit, bool | np.bool_)
            and not nature(bit)
        ):
            return coin if bool(bit) is (of is _both) else np.bool_(bit)
    return None


def _both(left: Foreign, right: Foreign) -> Foreign:
    if (coin := _with_a_bit(_both, left, right)) is not None:
        return coin
    left, right = _truth(left), _truth(right)
    if is_term(left) or is_term(right):
        return multiplying.multiply(left, right)
    return left and right


def _one_of(left: Foreign, right: Foreign) -> Foreign:
    return comparing.negated(_both(comparing.negated(_truth(left)), comparing.negated(_truth(right))))


def _xor(left: Foreign, right: Foreign) -> Foreign:
    for coin, bit in ((left, right), (right, left)):
        if nature(coin) == "coin" and is_term(bit) and not bit.noise and _is_bit(bit):
            made = coin.mixed(comparing.negated(bit), bit)
            if made is not None:
                return made
    return _bitwise(np.bitwise_xor, _one_of_two)(left, right)


def _one_of_two(left: Foreign, right: Foreign) -> Foreign:
    both = multiplying.multiply(left, right)
    return adding.subtract(adding.add(left, right), multiplying.multiply(both, 2))


def _bitwise(
    ufunc: Foreign, of: Callable[[Foreign, Foreign], Foreign] | None = None
) -> Callable[[Foreign, Foreign], Foreign]:
    """An operation on bits of numbers: of single raw ones as `of` says, of others if they are public."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        if of is not None and (coin := _with_a_bit(of, left, right)) is not None:
            return coin
        left, right = (v.plain() if _is_lazy(v) else _noiseless(v) for v in (left, right))
        if not is_term(left) and not is_term(right):
            return ufunc(left, right)
        if of is None or not (_is_bit(left) and _is_bit(right)):
            raise (left if is_term(left) else right).world.stop_raw(
                f"we cannot bound how much np.{ufunc.__name__} of raw {{data}} changes"
            )
        return of(left, right)

    return call


def _invert(value: Foreign) -> Foreign:
    value = _noiseless(value)
    return _negate(value) if not is_term(value) or _is_bit(value) else adding.subtract(-1, value)


def _sign(value: Foreign) -> Foreign:
    value = _noiseless(value)
    if not is_term(value):
        return np.sign(value)
    low, high = value.range()
    if low > 0 or high < 0:
        return np.float64(np.sign(low if low > 0 else high))
    units = atoms.moves_of(value.raw)
    return multiplying.opaque(
        value, float(np.sign(value.value())), -1.0, 1.0, lambda: dict.fromkeys(units, (-2.0, 2.0)), True
    )


def _copysign(size: Foreign, sign: Foreign) -> Foreign:
    if nature(sign) == "uniform" and not _hidden(size):
        sign.source.shape(0)
        return sign.through(functools.partial(np.copysign, float(size)))
    if nature(size) == nature(sign) == "uniform" and size.source is sign.source and not size.source.is_public:
        return size.joined(sign, np.copysign)
    return multiplying.multiply(elementary.absolute(ordinary(size)), _sign(ordinary(sign)))


def _noiseless(value: Foreign) -> Foreign:
    value = number(value)
    return value.settle() if is_term(value) and value.noise else value


def _negate(value: Foreign) -> Foreign:
    if nature(value) == "coin":
        return value.turned()
    return comparing.negated(_truth(value))


def _operator(of_uniform: Foreign, of_term: Foreign) -> Callable[[Foreign, Foreign], Foreign]:
    """An operation of two numbers."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        left, right = (_python(number(v)) for v in (left, right))
        if of_uniform is operator.mul and nature(right) == "coin":
            left, right = right, left  # that knows what it means to it
        if _is_lazy(left) or _is_lazy(right):
            return of_uniform(left, right)
        if is_term(left) != is_term(right) and of_uniform not in (operator.add, operator.sub):
            term_operators.weighed(left if is_term(left) else right, int(is_term(left)))
        return of_term(left, right)

    return call


def _end(ufunc: Foreign, of_terms: Foreign) -> Callable[[Foreign, Foreign], Foreign]:
    """The larger or smaller of two numbers."""

    def call(left: Foreign, right: Foreign) -> Foreign:
        side = int(nature(left) == "uniform")
        if nature(right) == "uniform":
            left, right = right, left
        if nature(left) == "uniform" and not _hidden(right):
            left.source.shape(side)
            return left.through(lambda u: ufunc(u, float(right)))
        return of_terms([ordinary(left), ordinary(right)])

    return call


def _of_draws(function: Foreign) -> Foreign:
    """What gives noise of known laws for uniform draws, and nothing that is followed for raw data."""

    def otherwise(value: Foreign) -> Foreign:
        value = _noiseless(value)
        return function(value.settle() if is_term(value) else value)

    return _either(function, otherwise)


_ELEMENTWISE: dict[Foreign, Function[Foreign]] = {
    np.add: _operator(operator.add, adding.add),
    np.subtract: _operator(operator.sub, adding.subtract),
    np.multiply: _operator(operator.mul, multiplying.multiply),
    np.true_divide: _operator(operator.truediv, multiplying.divide),
    np.power: _operator(operator.pow, elementary.power),
    np.float_power: _operator(operator.pow, elementary.power),
    np.negative: _either(np.negative, adding.opposite),
    np.positive: lambda v: v,
    np.abs: _either(np.abs, elementary.absolute),
    np.copysign: lambda a, b: _copysign(a, b),
    np.fabs: _either(np.abs, elementary.absolute),
    np.sqrt: _either(np.sqrt, elementary.root),
    np.square: _either(np.square, lambda v: multiplying.multiply(v, v)),
    np.exp: _either(np.exp, elementary.exponential),
    np.log: _either(np.log, elementary.logarithm),
    np.logaddexp: lambda a, b: elementary.logarithm(
        adding.add(*(elementary.exponential(ordinary(v)) for v in (a, b)))
    ),
    np.remainder: lambda a, b: multiplying.remainder(ordinary(a), ordinary(b)),
    np.log1p: _either(np.log1p, lambda v: elementary.logarithm(adding.add(v, 1.0))),
    np.sign: _either(np.sign, _sign),
    **{of: _of_draws(of) for of in (np.tan, np.sin, np.cos, np.expm1, np.log2, np.log10, np.arctanh)},
    np.floor: _either(np.floor, lambda v: elementary.rounded(v, np.floor)),
    np.ceil: _either(np.ceil, lambda v: elementary.rounded(v, np.ceil)),
    np.rint: lambda v: elementary.rounded(v, np.rint),
    np.trunc: lambda v: elementary.rounded(v, np.trunc),
    np.maximum: _end(np.maximum, comparing.most),
    np.minimum: _end(np.minimum, comparing.least),
    np.fmax: _end(np.maximum, comparing.most),
    np.fmin: _end(np.minimum, comparing.least),
    np.greater: _compare(True, False),
    np.greater_equal: _compare(False, False),
    np.less: _compare(True, True),
    np.less_equal: _compare(False, True),
    np.equal: comparing.equal,
    np.not_equal: lambda a, b: comparing.negated(comparing.equal(a, b)),
    np.logical_not: _negate,
    np.invert: _invert,
    np.logical_and: _both,
    np.bitwise_and: _bitwise(np.bitwise_and, _both),
    np.logical_or: _one_of,
    np.bitwise_or: _bitwise(np.bitwise_or, _one_of),
    np.left_shift: _bitwise(np.left_shift),
    np.right_shift: _bitwise(np.right_shift),
    np.bitwise_xor: lambda a, b: _xor(a, b),
    np.logical_xor: lambda a, b: _xor(*(v if nature(v) == "coin" else _truth(v) for v in (a, b))),
    np.floor_divide: lambda a, b: elementary.rounded(multiplying.divide(ordinary(a), ordinary(b)), np.floor),
    np.isnan: lambda v: np.False_,
    np.isinf: lambda v: np.False_,
    np.isfinite: lambda v: np.True_,
}


def _scipy() -> dict[Foreign, Function[Foreign]]:
    from scipy import special

    return {
        special.ndtri: _either(
            special.ndtri, lambda v: special.ndtri(_shown(v.world, v, _NO_BOUND) if is_term(v) else v)
        ),
        special.expit: _either(
            special.expit,
            lambda v: multiplying.divide(
                1.0, adding.add(elementary.exponential(multiplying.multiply(v, -1)), 1.0)
            ),
        ),
    }


_NO_BOUND = "we cannot bound how much a function of raw {data} changes"
_ELEMENTWISE |= _scipy()
_TRUTHS = frozenset((np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal))


def on_arrays(
    world: World, ufunc: Foreign, method: str, inputs: Foreign, out: Foreign, kwargs: Foreign
) -> Foreign:
    """A ufunc of boxes and terms."""
    world.count()
    target = out[0] if type(out) is tuple else out
    if method in ("reduce", "accumulate") and target is not None:
        return _written(world, on_arrays(world, ufunc, method, inputs, None, kwargs), target)
    if method == "reduce" and ufunc in _REDUCING:
        return calling(world, _REDUCING[ufunc], inputs, {k: v for k, v in kwargs.items() if v is not None})
    if method == "reduce" and ufunc is np.logaddexp and has_terms(inputs[0]) and not kwargs.get("axis"):
        return functools.reduce(_ELEMENTWISE[ufunc], entries(world, inputs[0]))
    if method == "accumulate" and ufunc is np.add:
        return calling(world, np.cumsum, inputs, {k: v for k, v in kwargs.items() if v is not None})
    if method == "at":
        return _at(world, ufunc, inputs)
    if ufunc is np.matmul and method == "__call__" and target is None and not kwargs:
        return calling(world, ufunc, inputs, {})
    scalar = _ELEMENTWISE.get(ufunc)
    if not any(has_terms(x) for x in inputs) or method != "__call__" or scalar is None:
        values = [
            _readable(world, x, f"we cannot bound how much np.{ufunc.__name__} of raw {{data}} changes")
            for x in inputs
        ]
        given = {k: plain(world, v, _NO_BOUND) for k, v in kwargs.items()}
        if target is not None and given.get("where", True) is not True:
            given["out"] = plain(world, target, f"np.{ufunc.__name__} masks raw {{data}} (where= or axis=)")
        found = getattr(ufunc, method)(*values, **given)
        made: Foreign = wrapped(world, found)
    else:
        if any(kwargs.get(key) is not None for key in ("where", "axis")) and kwargs.get("where") is not True:
            raise world.stop_raw(f"np.{ufunc.__name__} masks raw {{data}} (where= or axis=)")
        for x in inputs:
            if nature(x) == "veiled":
                return x.under(ufunc, *inputs)
        inputs = [x.plain() if nature(x) == "pick" else x for x in inputs]
        arrays = [as_objects(world, x) for x in inputs]
        for x in inputs:
            if type(x) is Box and x.world is not world:
                raise world.stop("a run uses numbers of another run: the code keeps state between runs")

        def entry(*values: Foreign) -> Foreign:
            return scalar(*values) if any(map(_hidden, values)) else ufunc(*values)

        found = np.frompyfunc(entry, len(arrays), 1)(*arrays)
        made = Box.of(world, found) if type(found) is np.ndarray and found.ndim else found
        if ufunc in _TRUTHS and type(made) is Box:
            made.kind = "b"
        else:
            _typed(world, ufunc, inputs, made)
    return made if target is None else _written(world, made, target)


def _typed(world: World, ufunc: Foreign, inputs: Foreign, made: Foreign) -> None:
    """Give an array the type that NumPy gives it: whole floats are not cut when others come in."""
    kinds = [_typed_as(x) for x in inputs]
    if type(made) is not Box or any(kind is None for kind in kinds):
        return
    try:
        dtype = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))[-1]
    except TypeError:
        return
    if dtype.kind == "b" and ufunc is np.add:
        raise world.stop("truth values are added, which gives a truth value instead of a count")
    if dtype.kind == "f" and made.kind == "i":
        made.kind = "f"
    if dtype.itemsize < 8 and dtype.kind in "fiu":
        made.narrow = _fitting(world, made, dtype)


def _typed_as(value: Foreign) -> Foreign:
    """The type of an array, or of a plain number as `resolve_dtypes` takes it; None of anything else."""
    if type(value) in (int, float):
        return type(value)
    if is_term(value):  # which may be Python's own, and then takes the other's type
        return int if value.whole else float
    return value.dtype if type(value) in (Box, np.ndarray) or isinstance(value, np.generic) else None


def looked_up(world: World, table: Foreign, key: Foreign) -> Foreign:
    """The entry or row of plain numbers at a raw place; None of others."""
    if table.dtype.kind not in "biuf" or table.ndim > 2 or not np.isfinite(table).all():
        return None
    if table.ndim == 1:
        return comparing.looked_up(key, table.tolist())
    return wrapped(world, [comparing.looked_up(key, column) for column in table.T.tolist()])


def _written(world: World, made: Foreign, target: Foreign) -> Foreign:
    """An array with what was made written into it."""
    if type(target) is not Box:
        raise world.stop("data or noise are written into a plain array, where we cannot follow them")
    target[...] = made
    return target


def as_objects(world: World, value: Foreign) -> Foreign:
    """The entries of an array, a list or a number, in an array of objects."""
    if type(value) is Box:
        return value.data if value.known is None else value.known.astype(object)
    if type(value) in (list, tuple):
        return as_objects(world, wrapped(world, value))
    if type(value) is np.ndarray:
        return value.astype(object)
    made = np.empty((), object)
    made[()] = value
    return made


def _at(world: World, ufunc: Foreign, inputs: Foreign) -> None:
    target, index, *rest = inputs
    if type(target) is not Box or ufunc not in (np.add, np.subtract) or target.ndim != 1:
        raise world.stop_raw(f"we cannot bound how much np.{ufunc.__name__}.at of raw {{data}} changes")
    places = np.ravel(plain(world, index, "raw {data} are used as an index"))
    values = np.broadcast_to(as_objects(world, rest[0]), places.shape).tolist()
    for i, value in zip(places.tolist(), values, strict=True):
        target[i] = (operator.add if ufunc is np.add else operator.sub)(target[i], value)


# ---------------------------------------------------------------- functions of arrays


def _along(
    world: World,
    values: Foreign,
    axis: Foreign,
    of: Callable[[list[Foreign]], Foreign],
    keepdims: Foreign = False,
) -> Foreign:
    """A function of the entries along an axis, or of all of them."""
    box = wrapped(world, values)
    if type(box) is not Box:
        return of([box])
    if axis is None:
        found = of(box.held.ravel().tolist())
        return Box.of(world, _filled((1,) * box.ndim, found)) if keepdims else found
    axis = operator.index(axis) % max(box.ndim, 1)
    rows = np.moveaxis(as_objects(world, box), axis, -1)
    flat = rows.reshape(-1, rows.shape[-1]) if rows.size else rows.reshape(int(np.prod(rows.shape[:-1])), -1)
    made = objects([of(row.tolist()) for row in flat], rows.shape[:-1])
    if keepdims:
        made = np.expand_dims(made, axis)
    return Box.of(world, made) if made.ndim else made[()]


def ordinary(value: Foreign) -> Foreign:
    """A uniform draw as noise or a public number."""
    if nature(value) == "veiled":
        return value.plain()
    return value.term() if _is_lazy(value) else value


def _rows(of: Callable[[list[Foreign]], Foreign]) -> Function[Foreign]:
    """A function of the rows along an axis, or of all entries."""

    def call(world: World, a: Foreign, axis: Foreign = None, keepdims: Foreign = False) -> Foreign:
        return _along(world, a, axis, of, keepdims)

    return call


def _total(row: list[Foreign]) -> Foreign:
    return adding.total(map(ordinary, row))


def _average_of(row: list[Foreign]) -> Foreign:
    return multiplying.divide(_total(row), len(row))


def _sum(
    world: World, a: Foreign, axis: Foreign = None, keepdims: Foreign = False, where: Foreign = True
) -> Foreign:
    if where is not True:
        where = where if type(where) is Box and _of_coins(where) else decided(world, where)
        a = _where(world, where, a, 0.0)
    return _along(world, a, axis, _total, keepdims)


def _there(row: list[Foreign]) -> list[Foreign]:
    """What is a number."""
    return [v for v in map(ordinary, row) if is_term(v) or v == v]


def _variance(row: list[Foreign], ddof: int = 0) -> Foreign:
    center = multiplying.divide(adding.total(row), len(row))
    gaps = [adding.subtract(v, center) for v in row]
    return multiplying.divide(adding.total(multiplying.multiply(g, g) for g in gaps), len(row) - ddof)


def _spread(of: Callable[[Foreign], Foreign]) -> Function[Foreign]:
    def call(
        world: World, a: Foreign, axis: Foreign = None, ddof: int = 0, keepdims: Foreign = False
    ) -> Foreign:
        return _along(world, a, axis, lambda row: of(_variance(row, ddof)), keepdims)

    return call


def position_of_largest(world: World, row: list[Foreign]) -> Foreign:
    """Of several numbers; raw if they are."""
    raw = [number(v) for v in row]
    if any(is_term(v) and not v.is_still for v in raw) and not any(is_term(v) and v.noise for v in raw):
        natural = int(np.argmax([v.value() if is_term(v) else float(v) for v in raw]))
        return answers.Position(world, natural, raw, _DECIDES)
    return comparing.largest(world, row)


def _position(sign: int) -> Foreign:
    def call(world: World, a: Foreign, axis: Foreign = None, keepdims: Foreign = False) -> Foreign:
        def of(row: list[Foreign]) -> Foreign:
            return position_of_largest(
                world, [v if sign > 0 else adding.opposite(v) for v in map(ordinary, row)]
            )

        return _along(world, a, axis, of, keepdims)

    return call


def _cumsum(world: World, a: Foreign, axis: Foreign = None) -> Foreign:
    box = wrapped(world, a)
    data = as_objects(world, box)
    data = data.ravel() if axis is None else np.moveaxis(data, axis, 0)
    made = np.empty(data.shape, object)
    rows, sums = data.reshape(len(data), -1), made.reshape(len(data), -1)
    for j in range(rows.shape[1]):
        running: Foreign = 0
        for i in range(len(rows)):
            running = adding.add(running, ordinary(rows[i, j]))
            sums[i, j] = running
    return Box.of(world, made if axis is None else np.moveaxis(made, 0, axis))


def _clip(
    world: World,
    a: Foreign,
    a_min: Foreign = None,
    a_max: Foreign = None,
    min: Foreign = None,
    max: Foreign = None,
) -> Foreign:
    low = a_min if a_min is not None else min if min is not None else -np.inf
    high = a_max if a_max is not None else max if max is not None else np.inf
    arrays = [as_objects(world, x) for x in (a, low, high)]

    def limited(v: Foreign, x: Foreign, y: Foreign) -> Foreign:
        if nature(v) == "uniform" and not _hidden(x) and not _hidden(y):
            for side in (1, 2):
                v.source.shape(side)
            return v.through(lambda u: np.clip(u, float(x), float(y)))
        if is_term(v):
            for side in (1, 2):
                term_operators.weighed(v, side)
        return elementary.limited(ordinary(v), x, y)

    found = np.frompyfunc(limited, 3, 1)(*arrays)
    return Box.of(world, found) if type(found) is np.ndarray else found


def _one_draw(coin: Foreign, one: Foreign, other: Foreign) -> bool:
    """Whether all three are functions of the same uniform draw, which was not shown."""
    alike = nature(one) == "uniform" and nature(other) == "uniform"
    return alike and one.source is other.source is coin.source and not coin.source.is_public


def _choose(condition: Foreign, one: Foreign, other: Foreign) -> Foreign:
    condition = number(condition)
    if nature(condition) == "coin" and _one_draw(condition, one, other):
        c, x, y = condition.function, one.function, other.function
        return type(one)(one.source, lambda u: np.where(c(u), x(u), y(u)))
    if is_term(condition) and not condition.noise:
        for side in (1, 2):
            term_operators.weighed(condition, side)
        return comparing.mixed(condition, ordinary(one), ordinary(other))
    if not is_term(one) and not is_term(other):
        return one if bool(condition) else other
    if nature(condition) == "coin" and not any(is_term(v) and v.noise for v in (one, other)):
        mixed = condition.mixed(one, other)
        if mixed is not None:
            return mixed
    picked, left = (one, other) if bool(condition) else (other, one)
    # What is not picked may be picked on another path: raw data that stays out here is still raw.
    hidden = is_term(left) and left.raw
    return adding.add(picked, adding.nothing_of(left)) if hidden and not is_term(picked) else picked


def _where(world: World, condition: Foreign, *sides: Foreign) -> Foreign:
    if not sides:
        return tuple(wrapped(world, i) for i in np.nonzero(decided(world, condition)))
    arrays = [as_objects(world, x) for x in (condition, *sides)]
    found = np.frompyfunc(_choose, 3, 1)(*arrays)
    return Box.of(world, found) if type(found) is np.ndarray else found


_DECIDES = "raw {data} decide which position is chosen"


def _times(one: Foreign, other: Foreign) -> Foreign:
    for coin, value in ((one, other), (other, one)):
        if nature(coin) == "coin":
            return coin * value
    return multiplying.multiply(ordinary(one), ordinary(other))


def _dot(world: World, a: Foreign, b: Foreign) -> Foreign:
    left, right = wrapped(world, a), wrapped(world, b)
    if np.ndim(left) == 0 or np.ndim(right) == 0:
        return left * right

    def inner(x: Foreign, y: Foreign) -> Foreign:
        return adding.total(_times(u, v) for u, v in zip(x, y, strict=True))

    x, y = as_objects(world, left), as_objects(world, right)
    noise = matrices.squared(world, x, y)
    if noise is not None:
        return noise
    if x.ndim > 2 and y.ndim == 1:
        made = objects([inner(row, y.tolist()) for row in x.reshape(-1, len(y)).tolist()], x.shape[:-1])
        return Box.of(world, made)
    if x.ndim > 2 or y.ndim > 2:
        raise world.stop_raw("we cannot bound how much products of larger arrays of raw {data} change")
    rows = x.tolist() if x.ndim == 2 else [x.tolist()]
    columns = y.T.tolist() if y.ndim == 2 else [y.tolist()]
    made = objects([inner(r, c) for r in rows for c in columns], (len(rows), len(columns)))
    made = made[0] if x.ndim == 1 else made
    made = made[..., 0] if y.ndim == 1 else made
    return (
        Box.of(world, made)
        if type(made) is np.ndarray and made.ndim
        else (made[()] if type(made) is np.ndarray else made)
    )


def _sorted(world: World, a: Foreign, axis: Foreign = -1) -> Foreign:
    box = wrapped(world, a)
    data = as_objects(world, box)
    rows = np.moveaxis(data, axis, -1) if axis is not None else data.ravel()
    flat = rows.reshape(-1, rows.shape[-1])
    made = np.empty(flat.shape, object)
    for i, row in enumerate(flat):
        made[i, :] = ordered(row.tolist())
    made = made.reshape(rows.shape)
    return Box.of(world, made if axis is None else np.moveaxis(made, -1, axis))


def ordered(values: list[Foreign]) -> list[Foreign]:
    """The numbers in order; of raw ones only that each moves no further than what is sorted."""
    values = [_noiseless(ordinary(v)) for v in values]
    raw = [v for v in values if is_term(v)]
    if not raw:
        return builtins.sorted(values)

    def nth(n: int) -> Callable[[list[float]], float]:
        return lambda found: builtins.sorted(found)[n]

    found = [comparing.order_statistic(raw, values, nth(n)) for n in range(len(values))]
    if is_term(found[0]):
        raw[0].world.kept["ordered", id(found[0])] = found, values
    return found


def _ranked(world: World, a: Foreign, v: Foreign, side: str) -> Foreign:
    """How many of the numbers that were put in order are below others; None if they were not."""
    limits = entries(world, a)
    found, values = world.kept.get(("ordered", id(limits[0])), ((), ())) if limits else ((), ())
    alike = len(found) == len(limits) > 0 and all(x is y for x, y in zip(found, limits, strict=True))
    if not alike or any(map(_hidden, entries(world, v))):
        return None

    def below(limit: Foreign) -> Foreign:
        if side == "left":
            return adding.total(comparing.above(limit, value, strict=True) for value in values)
        return adding.total(comparing.above(limit, value, strict=False) for value in values)

    if np.ndim(v) == 0:
        return below(v)
    return Box.of(world, objects(list(map(below, entries(world, v))), np.shape(v)))


def _middle(row: list[Foreign]) -> Foreign:
    found, half = ordered(row), len(row) // 2
    if len(row) % 2:
        return found[half]
    return multiplying.divide(adding.add(found[half - 1], found[half]), 2)


def _searchsorted(
    world: World, a: Foreign, v: Foreign, side: str = "left", sorter: Foreign = None
) -> Foreign:
    if nature(v) in ("uniform", "coin") and sorter is None:
        limits = entries(world, a)
        if v.stretches:
            limits, v = [v.share(limit) for limit in limits], v.base
        for i, limit in enumerate(limits):
            last = i == len(limits) - 1 and is_term(limit) and limit.ratio is not None and limit.ratio.is_one
            if last:
                return np.int64(v.source.rest_is(i) if nature(v) == "uniform" else i)
            if bool(v < limit):
                return np.int64(i)
        return np.int64(len(limits))
    ranked = _ranked(world, a, v, side) if sorter is None else None
    if ranked is not None:
        return ranked
    return calling(world, np.searchsorted, (decided(world, a), decided(world, v), side, sorter), {})


def _average(world: World, a: Foreign, axis: Foreign = None, weights: Foreign = None) -> Foreign:
    if weights is None:
        return _along(world, a, axis, _average_of)
    return _sum(world, wrapped(world, a) * weights, axis) / _sum(world, weights, axis)


def _bincount(world: World, x: Foreign, weights: Foreign = None, minlength: int = 0) -> Foreign:
    values = [ordinary(v) for v in entries(world, x)]
    raw = [v for v in values if is_term(v) and not v.noise]
    if raw and weights is None and len(raw) == len(values):
        if any(not v.whole or v.range()[0] < 0 or v.range()[1] >= minlength for v in raw):
            raise world.stop_raw("raw {data} set the limits of a histogram")
        return wrapped(world, _counts(values, [(b - 0.5, b + 0.5) for b in range(minlength)]))
    bins = np.ravel(decided(world, x)).astype(int).tolist()
    size = builtins.max([minlength, *(b + 1 for b in bins)])
    made = [adding.total([])] * size
    for b, weight in zip(
        bins, entries(world, weights) if weights is not None else [1] * len(bins), strict=True
    ):
        made[b] = adding.add(made[b], weight)
    return Box.of(world, objects(made, (size,)))


def _counts(values: Sequence[Foreign], bins: Sequence[tuple[float, float]]) -> list[Foreign]:
    """How many values lie in each of these bins, which do not meet; the last one has its upper end."""
    counts: list[list[Foreign]] = [[] for _ in bins]
    for value in values:
        cell = object()
        for count, (low, high) in zip(counts, bins, strict=True):
            last = count is counts[-1]
            bit = _both(
                comparing.above(value, low, strict=False), comparing.above(high, value, strict=not last)
            )
            count.append(comparing.exclusive(bit, cell))
    return [adding.total(count) for count in counts]


def _select(world: World, condlist: Foreign, choicelist: Foreign, default: Foreign = 0) -> Foreign:
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = _where(world, condition, choice, found)
    return found


def _applied(
    world: World, func1d: Foreign, axis: Foreign, arr: Foreign, *args: Foreign, **kwargs: Foreign
) -> Foreign:
    rows = np.moveaxis(as_objects(world, arr), axis, -1)
    made = [func1d(Box.of(world, row), *args, **kwargs) for row in rows.reshape(-1, rows.shape[-1])]
    if any(np.ndim(one) for one in made):
        raise world.stop_raw("np.apply_along_axis returns arrays for raw {data}")
    return of_first_type(world, made).reshape(rows.shape[:-1])


def of_first_type(world: World, values: list[Foreign]) -> Box:
    """An array of the type of its first entry; the bound ends if others are not of this one."""
    first, *others = (_kind_of(number(value)) for value in values)
    if first == "?" or (first != "f" and {*others} - {first}):
        raise world.stop_raw("the type of an array depends on raw {data}, or truncates them")
    made: Box = wrapped(world, values)
    return made


def _histogram(world: World, a: Foreign, bins: Foreign = 10, range: Foreign = None) -> Foreign:
    if isinstance(bins, str) or (range is None and np.ndim(bins) == 0):
        raise world.stop_raw("raw {data} set the limits of a histogram")
    edges = np.histogram_bin_edges(np.zeros(1), decided(world, bins), range)
    pairs = list(itertools.pairwise(edges.tolist()))
    counts = _counts([ordinary(v) for v in entries(world, a)], pairs)
    return Box.of(world, objects(counts, (len(counts),))), wrapped(world, edges)


def _einsum(world: World, subscripts: Foreign, *operands: Foreign, **kwargs: Foreign) -> Foreign:
    if not isinstance(subscripts, str) or "..." in subscripts or kwargs:
        raise world.stop_raw("we cannot bound how much np.einsum of raw {data} changes")
    arrays = [as_objects(world, x) for x in operands]
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    for letters, array in zip(inputs.split(","), arrays, strict=True):
        sizes |= dict(zip(letters, array.shape, strict=True))
    inner = [letter for letter in sizes if letter not in output]

    def entry(place: dict[str, int]) -> Foreign:
        products = []
        for at in np.ndindex(*(sizes[letter] for letter in inner)):
            full = {**place, **dict(zip(inner, at, strict=True))}
            factors = [
                array[tuple(full[letter] for letter in letters)]
                for letters, array in zip(inputs.split(","), arrays, strict=True)
            ]
            products.append(functools.reduce(multiplying.multiply, map(ordinary, factors)))
        return adding.total(products)

    shape = tuple(sizes[letter] for letter in output)
    found = objects([entry(dict(zip(output, at, strict=True))) for at in np.ndindex(*shape)], shape)
    return Box.of(world, found) if shape else found[()]


def norm_of(values: Sequence[Foreign]) -> Foreign:
    """The Euclidean norm of a list of numbers."""
    vector = users.vector_of(values)
    if vector is None:
        return elementary.root(adding.total(multiplying.multiply(v, v) for v in values))
    size = math.sqrt(math.fsum(v.value() ** 2 for v in values))
    moved = {vector.unit: (-vector.radius, vector.radius)} if vector.moves else {}
    made = multiplying.opaque(values[0], size, 0.0, vector.radius, lambda: moved)
    next(iter(made.raw)).norm_of = vector
    return made


def _norm(
    world: World, x: Foreign, ord: Foreign = None, axis: Foreign = None, keepdims: Foreign = False
) -> Foreign:
    if ord is not None and not (ord == 2 and (axis is not None or np.ndim(x) == 1)):
        raise world.stop_raw("we can bound only the Euclidean norm of raw {data}")
    return _along(world, x, axis, norm_of, keepdims)


_REDUCING = {
    np.add: np.sum,
    np.maximum: np.max,
    np.minimum: np.min,
    np.multiply: np.prod,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
_FUNCTIONS: dict[Foreign, Function[Foreign]] = {
    np.sum: _sum,
    np.nansum: _rows(lambda row: adding.total(_there(row))),
    np.count_nonzero: _rows(lambda row: adding.total(map(_truth, row))),
    np.mean: _rows(_average_of),
    np.nanmean: _rows(lambda row: _average_of(_there(row)) if _there(row) else np.nan),
    np.average: _average,
    np.var: _spread(lambda found: found),
    np.std: _spread(elementary.root),
    **dict.fromkeys((np.max, np.amax), _rows(comparing.most)),
    **dict.fromkeys((np.min, np.amin), _rows(comparing.least)),
    **dict.fromkeys((np.argmax, np.nanargmax), _position(1)),
    **dict.fromkeys((np.argmin, np.nanargmin), _position(-1)),
    np.cumsum: _cumsum,
    np.clip: _clip,
    np.where: _where,
    **dict.fromkeys((np.dot, np.inner, np.vdot, np.matmul), _dot),
    np.sort: _sorted,
    np.median: _rows(_middle),
    np.searchsorted: _searchsorted,
    np.digitize: lambda world, x, bins, right=False: _searchsorted(world, bins, x),
    np.prod: _rows(lambda row: functools.reduce(multiplying.multiply, row)),
    np.all: _rows(lambda row: functools.reduce(_both, row, True)),
    np.any: _rows(lambda row: functools.reduce(_one_of, row, False)),
    np.bincount: _bincount,
    np.einsum: _einsum,
    np.select: _select,
    np.apply_along_axis: _applied,
    np.histogram: _histogram,
    np.outer: lambda world, a, b: _einsum(world, "i,j->ij", np.ravel(a), np.ravel(b)),
    np.trace: lambda world, a: _sum(world, np.diagonal(a)),
    np.triu: lambda world, m, k=0: _kept(world, m, np.triu, k),
    np.tril: lambda world, m, k=0: _kept(world, m, np.tril, k),
    np.linalg.norm: _norm,
    **dict.fromkeys((np.round, np.around), lambda world, a, decimals=0: _rounded(world, a, decimals)),
}


def _kept(world: World, m: Foreign, part: Foreign, k: int) -> Foreign:
    """A triangle of an array, 0 elsewhere."""
    box = wrapped(world, m)
    return Box.of(world, np.where(part(np.ones(box.shape, bool), k), as_objects(world, box), 0.0))


# They move entries about; positions come from public arguments.
_MOVING = (
    *("concatenate", "stack", "vstack", "hstack", "column_stack", "dstack", "reshape", "ravel", "transpose"),
    *("tile", "repeat", "flip", "flipud", "fliplr", "roll", "append", "insert", "delete", "squeeze"),
    *("expand_dims", "broadcast_to", "take", "split", "array_split", "diag", "diagonal", "atleast_1d"),
    *("atleast_2d", "copy", "swapaxes", "moveaxis", "rot90", "resize", "take_along_axis"),
)
_MOVES = {getattr(np, name) for name in _MOVING} | {np.lib.stride_tricks.sliding_window_view}
_OF_ARRAYS = {np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.dstack}
_LIKE = {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.shape, np.ndim, np.size}


def _rounded(world: World, a: Foreign, decimals: int) -> Foreign:
    if decimals:
        return np.round(plain(world, a, "raw {data} are rounded to a number of digits"), decimals)
    return on_arrays(world, np.rint, "__call__", (a,), None, {})


def calling(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    """A function of NumPy's on boxes and terms."""
    world.count()
    if function in _LIKE:
        return _like(world, function, args, kwargs)
    if function in (np.argsort, np.argpartition):
        found = world.subsets.ordered(
            world, function, args, kwargs, lambda: _called(world, function, args, kwargs)
        )
        if found is not None:
            return found
    return _called(world, function, args, kwargs)


def _called(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    hidden = any(has_terms(v) for v in (*args, *kwargs.values()))
    if hidden and any(type(v) is Box and v.kind == "b" for v in args):
        _of_truths(world, function, args, kwargs)
    own = _FUNCTIONS.get(function)
    if hidden and own is not None:
        return _own(world, function, own, args, kwargs)
    if hidden and function in _MOVES:
        return _moved(world, function, args, kwargs)
    if hidden and function in _BY_OPERATORS and not kwargs.get("out"):
        return _by_operators(world, function, args, kwargs)
    what = f"we cannot bound how much np.{getattr(function, '__name__', function)} of raw {{data}} changes"
    out = kwargs.pop("out", None)
    values = [_readable(world, v, what) for v in args]
    if function in _FILLING and not (type(args[0]) is Box and args[0].known is not None):
        raise world.stop("an array is filled in place in a way that we cannot follow")
    named = {key: _readable(world, v, what) for key, v in kwargs.items()}
    found = function(*values, **named)
    if type(out) is Box:
        out[...] = found
        return out
    both = zip((*args, *kwargs.values()), (*values, *named.values()), strict=True)
    return given_back(found, [pair for pair in both if type(pair[0]) is Box], lambda one: wrapped(world, one))


def _of_truths(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> None:
    """End the bound if NumPy makes something else of truth values than of the numbers 0 and 1."""

    def tried(value: Foreign, every: int, kind: type) -> Foreign:
        if type(value) is not Box:
            return value
        ones = np.arange(value.size).reshape(value.shape) % every == 0
        return ones.astype(kind if value.kind == "b" else value.dtype)

    for every in (1, 2):
        try:
            one, other = (function(*(tried(v, every, kind) for v in args), **kwargs) for kind in (bool, int))
            same = np.array_equal(np.asarray(one, np.float64), np.asarray(other, np.float64), equal_nan=True)
        except (TypeError, ValueError):
            return  # it takes something else, or none of these
        if not same:
            raise world.stop("truth values are added, which gives a truth value instead of a count")


_FILLING = (np.put, np.place, np.putmask, np.copyto, np.fill_diagonal, np.put_along_axis)


# They are made of sums, differences and products of entries, whatever these are.
_BY_OPERATORS = {
    getattr(np, name)
    for name in (
        "diff",
        "ediff1d",
        "tensordot",
        "convolve",
        "correlate",
        "kron",
        "trapezoid",
        "trapz",
        "polyval",
    )
    if hasattr(np, name)
}


def _by_operators(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    """A function of NumPy's on entries as objects, which know their operators."""

    def inside(value: Foreign) -> Foreign:
        return (
            as_objects(world, value)
            if isinstance(value, np.ndarray | list | tuple) and has_own(value)
            else value
        )

    found = function(*map(inside, args), **{key: inside(value) for key, value in kwargs.items()})
    if type(found) is not np.ndarray:
        return number(found)
    return Box.of(world, objects([ordinary(v) for v in found.ravel().tolist()], found.shape))


def each(function: Callable[[Foreign], Foreign], found: Foreign) -> Foreign:
    """A function of what NumPy returned, or of each of several parts, which may have names."""
    if not isinstance(found, tuple | list):
        return function(found)
    return getattr(type(found), "_make", type(found))(map(function, found))


@functools.cache
def _named(function: Foreign) -> inspect.Signature | None:
    """NumPy's signature of a function; None where it takes arguments by place only, or does not tell."""
    try:
        found = inspect.signature(function)
    except ValueError:
        return None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    return None if any(one.kind in by_place for one in found.parameters.values()) else found


_signature = functools.lru_cache(maxsize=None)(inspect.signature)
_USUAL = {"where": True, "keepdims": False, "returned": False, "overwrite_input": False}


def _own(world: World, function: Foreign, own: Function[Foreign], args: Foreign, kwargs: Foreign) -> Foreign:
    """One of the functions above, by NumPy's signature; what it makes is written where it should be."""
    kwargs = {k: v for k, v in kwargs.items() if v is not None and v is not np._NoValue}
    named = _named(function)
    if named is not None:
        args, kwargs = (), dict(named.bind(*args, **kwargs).arguments)
    out, dtype = kwargs.pop("out", None), kwargs.pop("dtype", None)
    for name in kwargs.keys() - _signature(own).parameters.keys() if named is not None else ():
        if kwargs.pop(name) is not _USUAL.get(name):
            raise world.stop_raw(f"np.{function.__name__} of raw {{data}} has the argument {name}")
    made = own(world, *args, **kwargs)
    if dtype is not None:
        wanted = np.dtype(_type(dtype))
        kind = made.kind if type(made) is Box else _kind_of(made)
        if wanted.itemsize < 8 or not (wanted.kind == "f" or (wanted.kind == "i" and kind != "f")):
            raise world.stop_raw(f"np.{function.__name__} of raw {{data}} is computed in type {wanted}")
    return made if out is None else _written(world, made, out)


def _like(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    first = args[0]
    if function in (np.shape, np.ndim, np.size):
        return function(first.data if type(first) is Box else np.zeros(()), *args[1:], **kwargs)
    kwargs = {key: _type(value) if key == "dtype" else value for key, value in kwargs.items()}
    if type(first) is Box and "dtype" not in kwargs:
        first.settle_type()
    shaped = np.zeros(first.shape, first.dtype)
    if function is np.full_like:
        made = wrapped(world, np.zeros_like(shaped, **{k: v for k, v in kwargs.items() if k == "dtype"}))
        made[...] = args[1] if len(args) > 1 else kwargs["fill_value"]
        return made
    return wrapped(world, function(shaped, *args[1:], **kwargs))


def _moved(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    def inside(value: Foreign) -> Foreign:
        if type(value) is Box:
            return value.data
        if type(value) in (list, tuple) and has_own(value):
            return (
                [as_objects(world, v) for v in value]
                if function in _OF_ARRAYS
                else wrapped(world, value).data
            )
        if _hidden(value):
            return as_objects(world, value)
        return value

    plainly = [inside(v) for v in args]
    found = function(*plainly, **{key: inside(v) for key, v in kwargs.items()})
    given = [(v, inside) for v, inside in zip(args, plainly, strict=True) if type(v) is Box]
    return given_back(
        found, given, lambda one: Box.of(world, one) if type(one) is np.ndarray else number(one)
    )
