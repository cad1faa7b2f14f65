"""Arrays whose entries may be terms.

What NumPy's functions do with them is in `array_protocol`, which the run knows.
"""

from __future__ import annotations

import builtins
import functools
import operator

import numpy as np

from verifiable_dp.core.validate import NUMBERS_OR_BITS, Foreign
from verifiable_dp.evidence.symbolic import answers, atoms, comparing, elementary, terms
from verifiable_dp.evidence.symbolic.box_memory import BoxMemory, counterpart, given_back, steps
from verifiable_dp.evidence.symbolic.elementwise import (
    as_python,
    choose,
    hidden,
    is_lazy,
    public_number,
)
from verifiable_dp.evidence.symbolic.ends import Ends
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.python_operators import ARITHMETIC, COMPARING

_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
NEVER = frozenset((bool, int, float, np.bool_, np.int64, np.float64))
DECIDES = "raw {data} decide which position is chosen"


def objects(values: Foreign, shape: tuple[int, ...]) -> Foreign:
    """An array of objects with these entries."""
    # Not by a slice, before which NumPy looks for an array in every entry.
    return np.fromiter(values, object, len(values)).reshape(shape)


def _of_own(value: Foreign) -> bool:
    return type(value) in (Box, Term) or is_lazy(value)


def has_own(value: Foreign) -> bool:
    """Whether tracked numbers or arrays stand in a value, at any depth."""
    if type(value) in (list, tuple):
        return any(has_own(v) for v in value)
    return _of_own(value) or (type(value) is np.ndarray and value.dtype == object)


def has_terms(value: Foreign) -> bool:
    """Whether numbers that were not shown stand in a value."""
    if type(value) is Box:
        if value.known is not None:
            return False
        found = value.data.ravel().tolist()
        return not NEVER.issuperset(map(type, found)) and any(map(hidden, found))
    if type(value) in (list, tuple):
        return any(has_terms(v) for v in value)
    if type(value) is np.ndarray and value.dtype == object:
        return any(hidden(v) for v in value.ravel().tolist())
    return hidden(value)


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
        kinds = {kind_of(v) for v in data.ravel().tolist()} or {"f"}
        return cls(world, data, "f" if kinds & {"f", "?"} else "i" if "i" in kinds else "b")

    def settle_type(self) -> None:
        """End the bound if data decide whether it holds floats: then what is written into it may be cut."""
        if self.world.mixes_types and self._data is not None and self.kind == "f":
            kinds = {kind_of(v) for v in self._data.ravel().tolist()}
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
        if part.dtype != array.dtype or steps(self.data) != steps(array):  # as those of objects
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
            and of_coins(key)
            and has_terms(self)
        ):
            return self.world.subsets.Sampled(key.copy(), self.copy())
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
            fitting(self.world, value, self.narrow)
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
                self.data[i] = choose(comparing.equal(key, i), *bits)
            return
        key, made = self._key(key), self._entry(value)
        if self.known is not None and type(made) in NEVER:
            self.known[key] = made
        elif type(self.data[key]) is np.ndarray:
            self.data[key] = (
                objects([made], ())[()] if not hidden(made) else filled(self.data[key].shape, made)
            )
        else:
            self.data[key] = made

    def _entry(self, value: Foreign) -> Foreign:
        value = number(value)
        if self.world.joint and type(value) is answers.Position:
            return value
        if is_lazy(value):
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
        return [entry.tolist() if type(entry) is Box else as_python(entry) for entry in self]

    def item(self, *args: Foreign) -> Foreign:
        """As an array's."""
        return as_python(_scalar(self.held.item(*args), self.kind))

    def astype(self, dtype: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        wanted = np.dtype(type_of(dtype))
        if self.known is not None or wanted == self.dtype:
            held = self.held
            found = held.astype(wanted if held is self.known else object, **kwargs)
            return given_back(found, [(self, held)], lambda one: like(self, one))
        kind = "i" if wanted.kind == "u" else wanted.kind
        narrow = fitting(self.world, self, wanted)
        if kind == self.kind != "b":
            return Box(self.world, self.data.copy(), kind, narrow)
        made = [
            v
            if (nature(v) == "uniform" and kind == "f") or nature(v) == "coin"
            else elementary.cast(v.plain() if is_lazy(v) else v, kind)
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
        array = readable(self.world, self, "")
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
        self[...] = self.world.arrays.calling(self.world, np.sort, (self, *args), kwargs)


def of_coins(key: Box) -> bool:
    """Whether coins stand in an array, and nothing raw."""
    bits = [] if key.known is not None else key.data.ravel().tolist()
    return any(nature(v) == "coin" for v in bits) and not any(map(is_term, bits))


_IN_PLACE = ("partition", "resize", "put", "itemset", "setfield", "byteswap", "setflags")


def _method(box: Box, function: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
    return box.world.arrays.calling(box.world, function, (box, *args), kwargs)


def _binary(ufunc: Foreign, turned: bool) -> Foreign:
    def operate(self: Foreign, other: Foreign) -> Foreign:
        if other is None or isinstance(other, str):
            return NotImplemented
        return self.__array_ufunc__(ufunc, "__call__", *((other, self) if turned else (self, other)))

    return operate


def _in_place(ufunc: Foreign) -> Foreign:
    def operate(self: Foreign, other: Foreign) -> Foreign:
        self[...] = self.__array_ufunc__(ufunc, "__call__", self, other)
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
    setattr(Box, f"__{_name}__", lambda self, _u=_one: self.__array_ufunc__(_u, "__call__", self))
for _name in ("matmul", "rmatmul"):
    setattr(
        Box,
        f"__{_name}__",
        lambda self, other, _turn=_name == "rmatmul": self.world.arrays.calling(
            self.world, np.dot, (other, self) if _turn else (self, other), {}
        ),
    )


# ---------------------------------------------------------------- to and from plain values


def type_of(dtype: Foreign) -> Foreign:
    """A type of NumPy's, also where a stand-in for `float` or `int` was given."""
    return getattr(dtype, "stands_for", dtype)


def fitting(world: World, value: Foreign, dtype: Foreign) -> Foreign:
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


def kind_of(value: Foreign) -> str:
    """The letter of a type for an entry; ``?`` where data decide whether it is a float."""
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


def filled(shape: tuple[int, ...], value: Foreign) -> Foreign:
    """An array of objects with one entry everywhere."""
    return objects([value] * int(np.prod(shape)), shape)


def plain(world: World, value: Foreign, what: str, why: Ends = Ends.DATA) -> Foreign:
    """The same with plain numbers: what has noise is shown, and raw data ends the bound."""
    if type(value) is Box:
        if value.world is not world:
            raise world.stop("a run uses numbers of another run: the code keeps state between runs")
        if value.known is not None:
            return value.known.copy()
        found: Foreign = np.empty_like(value.data, _KINDS[value.kind])
        found[...] = np.frompyfunc(lambda v: public_number(world, v, what, why), 1, 1)(value.data)
        return found
    if _of_own(value):
        return public_number(world, value, what, why)
    if getattr(type(value), "shows", False):
        return plain(world, value.shown(), what, why)
    if type(value) in (list, tuple):
        return type(value)(plain(world, v, what, why) for v in value) if has_own(value) else value
    if type(value) is np.ndarray and value.dtype == object and has_own(value):
        return plain(world, Box.of(world, value), what, why)
    return value


def decided(world: World, value: Foreign) -> Foreign:
    """As `plain`, of what decides which position is chosen."""
    return plain(world, value, DECIDES, Ends.POSITION)


def like(box: Box, made: Foreign) -> Foreign:
    """An array that was made of what a box holds, in memory of its own."""
    if made.dtype != object:
        return wrapped(box.world, made)
    return Box(box.world, made, box.kind, box.narrow)


def readable(world: World, value: Foreign, what: str) -> Foreign:
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
            if value.dtype.type in NEVER:
                return Box(world, value.copy(order="K"), kind)
            whole = value.dtype.kind == "b" or (value.dtype.itemsize >= 8 and value.dtype.kind != "u")
            return Box(world, value.astype(object), kind, None if whole else value.dtype)
        return Box.of(world, value) if value.dtype == object and has_own(value) else value
    nested = _nested(value)
    made = np.array(nested, dtype=object)
    if not made.size:
        return Box(world, made.reshape(np.shape(value)), "f")
    if not all(hidden(v) or isinstance(v, NUMBERS_OR_BITS) for v in made.ravel().tolist()):
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


def looked_up(world: World, table: Foreign, key: Foreign) -> Foreign:
    """The entry or row of plain numbers at a raw place; None of others."""
    if table.dtype.kind not in "biuf" or table.ndim > 2 or not np.isfinite(table).all():
        return None
    if table.ndim == 1:
        return comparing.looked_up(key, table.tolist())
    return wrapped(world, [comparing.looked_up(key, column) for column in table.T.tolist()])


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


def of_first_type(world: World, values: list[Foreign]) -> Box:
    """An array of the type of its first entry; the bound ends if others are not of this one."""
    first, *others = (kind_of(number(value)) for value in values)
    if first == "?" or (first != "f" and {*others} - {first}):
        raise world.stop_raw("the type of an array depends on raw {data}, or truncates them")
    made: Box = wrapped(world, values)
    return made
