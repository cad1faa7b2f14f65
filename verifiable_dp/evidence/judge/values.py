"""What may be said of a value of users' code without running it, and what library objects do to it.

A value is the same in every run (`PUBLIC`), or moves with draws in one direction or by branches that coverage
takes both ways (`SMOOTH`), or may do for rare draws what it does for no others (`STEEP`): a product of two
that move may rise and fall. What is not understood is `STEEP`. Library functions are told by the objects
they are, never by what they are called.
"""

from __future__ import annotations

import abc
import ast
import builtins
import collections
import dataclasses
import functools
import heapq
import inspect
import itertools
import math
import random
import sys
import types
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from verifiable_dp.core.validate import Foreign

PUBLIC, SMOOTH, STEEP, WIDE = range(4)  # wide: steep, and of so many values that paths see but a few
ANY = ("any", None)  # it may be any object
GENERATOR = ("generator", None)
OPAQUE = ("opaque", None)  # an object of a library that holds no code of the user's
RECORD = ("record", None)  # a list or tuple that is written down, whose entries are not alike
LIST = ("list", None)  # any other container of Python's
TEXT = ("text", None)  # characters, which need not be alike
SET = ("set", None)  # a set, too: the order of what is in it may be another one in another process
NUMBER = ("number", None)  # what draws have a part in and is no container: a name may be either
CONTAINER = frozenset((RECORD, LIST, TEXT, SET))
Tags = frozenset[tuple[str, Foreign]]
NONE: Tags = frozenset()


class Value(NamedTuple):
    """What may be said of a value.

    Attributes
    ----------
    level
        How it follows from draws.
    turn
        How it follows from the turn of a loop over public things.
    size
        How the number of its entries, or theirs, follows from draws.
    rough
        How its entries follow from their positions.
    own, inner
        Functions, classes, instances, modules that it may be, and that its entries may be.
    data
        Whether people's data or noise may be in it that nothing has been compared with.
    many
        Whether it was added up of several draws, so that some of its few values may be rare.
    truth
        Whether it may hold truth values, of which an index takes as many entries as are true.
    noisy
        Whether noise may be in it, and nothing has been compared with it.
    raw
        Whether people's data may be in it.
    tossed
        Whether a draw may be in it, not only what followed from one.
    unseen
        Whether it is not known whether people's data are in it or only a draw.
    passed, depth
        The choices by chance that it came through, and how many of them one after the other; see `chances`.
    stream
        Whether it may be an iterator, which is another one each time that something was taken out of it.
    draws
        How many numbers that a generator gave are in it, not only what they have decided: none, one of few
        values, of which paths see each, or more (2), of which they may see no one.
    partial
        Whether noise in it may be left out, or be a number without noise, as often as draws say; see `loops`.
    kept
        Loops that turn as often as draws say, in each turn of which it is the same data.
    apart
        Whether a number made of draws may be in it beside data, as in a tuple of both: `data` says of neither
        that the other is not there.
    """

    level: int = PUBLIC
    turn: int = PUBLIC
    size: int = PUBLIC
    rough: int = PUBLIC
    own: Tags = NONE
    inner: Tags = NONE
    data: bool = False
    many: bool = False
    truth: bool = False
    noisy: bool = False
    raw: bool = False
    tossed: bool = False
    passed: Tags = NONE
    depth: int = 0
    unseen: bool = False
    stream: bool = False
    draws: int = 0
    partial: bool = False
    kept: frozenset[ast.AST] = frozenset()
    apart: bool = False

    @property
    def by_chance(self) -> bool:
        """Whether draws alone say what it is, whatever people's data are."""
        return self.tossed and (not self.raw or self.unseen) and self.level > PUBLIC

    @property
    def takes(self) -> int:
        """How it follows from draws how many entries are taken where this is an index."""
        return max(self.size, self.level if self.truth else PUBLIC)

    @property
    def varies(self) -> bool:
        """Whether a draw, or what was done with data, may have a part in it."""
        return self.level > PUBLIC or self.draws > 0

    @property
    def bare(self) -> bool:
        """Whether it may be a number that follows from draws and is not data, nor noise."""
        return self.varies and (not self.data or self.apart)

    def __or__(self, other: Value) -> Value:
        pairs: Iterable[tuple[Foreign, Foreign]] = zip(self, other, strict=True)
        return Value(*(one | two if isinstance(one, frozenset) else max(one, two) for one, two in pairs))

    def steep(self) -> Value:
        """Of what may take any turn: a remainder, a comparison with a constant.

        What is computed of noise and data alone is followed, and moves as they do.
        """
        level, turn, rough = (max(STEEP, n) if n else PUBLIC for n in (self.level, self.turn, self.rough))
        followed = self.data and not self.apart
        return self._replace(level=self.level if followed else level, turn=turn, rough=rough)

    def whole(self) -> Value:
        """Of a number of which only steps are left: what is done with it then is not followed."""
        return self._replace(data=False, noisy=False, apart=self.apart or self.varies)

    @property
    def things(self) -> Tags:
        """What it may be that is no number and no container."""
        return self.own - CONTAINER - {NUMBER}

    @property
    def things_inside(self) -> Tags:
        """What its entries may be that is no number and no container: objects of a kind are not alike."""
        return self.inner - CONTAINER - {NUMBER}

    @property
    def container(self) -> Tags:
        """Whether it may be a container of Python's, and of which kind."""
        return self.own & CONTAINER

    @property
    def unlike(self) -> int:
        """How its own entries follow from their positions."""
        return STEEP if RECORD in self.own or TEXT in self.own else self.rough

    @property
    def texts(self) -> Tags:
        """Whether it may be a text, or its entries."""
        return (self.own | self.inner) & {TEXT}

    @property
    def unordered(self) -> bool:
        """Whether it may be a set of anything but numbers, whose order every process makes anew."""
        return SET in self.own and not self.inner <= {NUMBER, LIST, RECORD, SET}

    def entry(self, at: Value) -> Value:
        """What stands at a position: alike tables tell nothing of it, and rough ones may do whatever."""

        def found(position: int) -> int:
            same = PUBLIC if not self.things_inside else min(position, SMOOTH)
            return max(position, self.unlike) if position and self.unlike else same

        level = max(self.level, found(at.level))
        turn = max(
            self.turn, found(at.turn) if self.unlike else PUBLIC
        )  # one of what is alike is as any other
        nested = self.inner & (CONTAINER | {ANY})  # which may be of different lengths
        size = max(self.size, found(at.level) if nested else PUBLIC)
        return Value(level, turn, size, self.rough, self.inner, self.inner, *self[6:])

    @property
    def refs(self) -> Tags:
        """Objects of the user's that it or its entries may be."""
        return frozenset(
            tag for tag in self.own | self.inner if tag[0] != "library" and tag not in CONTAINER | {NUMBER}
        )

    @property
    def each(self) -> Value:
        """One after the other of its entries."""
        turn = max(self.turn, SMOOTH, self.unlike)
        return Value(self.level, turn, self.size, self.rough, self.inner, self.inner, *self[6:])


_ANYTHING = frozenset((ANY,))
UNKNOWN = Value(STEEP, STEEP, STEEP, STEEP, _ANYTHING, _ANYTHING, data=True, truth=True, raw=True)
UNKNOWN = UNKNOWN._replace(tossed=True, unseen=True, apart=True)

MADE = Value(own=frozenset((OPAQUE,)), inner=frozenset((OPAQUE,)))


def joined(values: Iterable[Value]) -> Value:
    """What holds of any of them."""
    return functools.reduce(Value.__or__, values, Value())


def together(values: Iterable[Value]) -> int:
    """How many numbers that a generator gave are in what is made of all of them."""
    return min(2, sum(value.draws for value in values))


# Libraries whose results follow from what is given alone.
_PURE = frozenset(
    (
        *("builtins", "math", "cmath", "numpy", "scipy", "pandas", "itertools", "functools"),
        *("_functools", "operator", "_operator", "collections", "_collections", "dataclasses"),
        *("enum", "typing", "abc", "_abc", "copy", "fractions", "decimal", "_decimal"),
        *("bisect", "_bisect", "heapq", "_heapq", "statistics", "numbers", "contextlib"),
        *("string", "types", "warnings", "_io", "numba", "textwrap"),
    )
)
FOLLOWED = frozenset(("opendp", "diffprivlib"))  # whose mechanisms are followed, whatever makes them
_GENERATORS = (np.random.Generator, np.random.PCG64, np.random.RandomState, np.random.SeedSequence)
_RANDOM = ("numpy.random", "random", "_random", "secrets")
# What finds or makes code, or looks at it: the bound ends where it is used.
_REFLECTION = frozenset(
    (
        *("eval", "exec", "compile", "globals", "locals", "vars", "setattr", "delattr"),
        *("__import__", "id", "dir", "input", "open", "breakpoint", "memoryview", "hash"),
        *("__setattr__", "__delattr__"),
    )
)
_HOME = frozenset(("sys", "inspect", "gc", "importlib", "ctypes", "types", "weakref", "ast", "dis", "pickle"))
WRAPS = (  # functions around functions: as decorators of a file they are looked through, and not called
    *(property, staticmethod, classmethod, functools.lru_cache, functools.cache, functools.cached_property),
    *(functools.wraps, functools.partial, abc.abstractmethod, dataclasses.dataclass),
)
CALLS_NOTHING = (
    *(list, tuple, dict, set, zip, enumerate, iter, next, reversed, len, isinstance, range),
    np.array,
)
SETS = (set, frozenset)
ANY_ORDER = (*SETS, len, isinstance, bool, any, all, sorted, max, min)  # without a key
OF_SETS = frozenset(name for name in dir(frozenset) + dir(set) if name[0] != "_" and name != "pop")
ONCE = (max, min, sorted, map, filter, heapq.nlargest, heapq.nsmallest, collections.defaultdict)
# Of functions that return functions.
WRAPPING = frozenset(("functools", "_functools", "itertools", "builtins", "contextlib", "numba", "types"))
FILLED = (np.zeros, np.ones, np.full, np.empty, np.zeros_like, np.ones_like, np.full_like, np.empty_like)
# Functions, and where they are told of how many entries what they make is.
AS_MANY_AS: dict[Foreign, Foreign] = {
    heapq.nlargest: 0,
    heapq.nsmallest: 0,
    np.array_split: 1,
    np.split: 1,
    np.reshape: 1,
    np.tile: 1,
    np.repeat: 1,
    np.resize: 1,
    np.fromiter: "count",
    itertools.product: "repeat",
}
REPEATS = (*FILLED, itertools.repeat, itertools.cycle, np.repeat, np.tile, np.resize)
COUNTED = (range, np.arange, np.linspace, enumerate)
# What does for rare numbers what it does for others, of as many of them as it is given.
ENTRYWISE = (
    *(int, float, list, tuple, sum, max, min, sorted, reversed, zip, enumerate, iter, next),
    *(round, map, str, repr, format, math.sqrt, math.log, math.log2, math.log10, math.log1p),
    *(math.exp, math.expm1, math.floor, math.ceil, math.fsum, math.prod, math.pow, np.sqrt),
    *(np.log, np.log2, np.log1p, np.exp, np.expm1, np.floor, np.ceil, np.rint, np.cumsum),
    *(np.maximum, np.minimum, np.clip, np.sort, np.argsort, np.array, np.asarray, np.add),
    *(np.subtract, np.multiply, np.divide, np.sum, np.mean, np.max, np.min, np.argmax),
    *(np.argmin, np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack, np.float64),
    *(np.int64, np.dot, np.amax, np.einsum, np.matmul, np.inner, np.triu, np.tril, np.copy),
    *(np.atleast_1d, np.transpose, np.reshape, np.ravel, np.asanyarray, np.fromiter, np.outer),
    *(np.median, itertools.accumulate, itertools.chain, itertools.cycle, itertools.pairwise),
    *(itertools.count, itertools.product, heapq.nlargest, heapq.nsmallest, np.where),
    *(dict.fromkeys, collections.defaultdict, collections.deque, collections.Counter),
    *(np.append, np.array_split, np.split, np.bincount, np.prod, np.power),
)
OPERATIONS: dict[Foreign, ast.operator] = {  # of two numbers
    np.add: ast.Add(),
    np.subtract: ast.Sub(),
    np.multiply: ast.Mult(),
    np.divide: ast.Div(),
    np.power: ast.Pow(),
    math.pow: ast.Pow(),
}
# Of a public table: what leaves entries alike where those of all that it is given are.
ALIKE = (
    *(list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, dict.fromkeys),
    *(sorted, reversed, iter, zip, enumerate, itertools.repeat, itertools.cycle, itertools.islice),
    *(np.array, np.asarray, np.asanyarray, np.copy, np.sort, np.ravel, np.atleast_1d, np.reshape),
    *(np.tile, np.repeat, itertools.product),
)
CONSUMING = (sum, list, tuple, sorted, max, min, dict)  # what takes all of an iterator
CODE = ("function", "method", "applied", "class")  # tags of what is code
TEXTS = (str, repr, format, ascii, bin, oct, hex)
SCALARS = (int, float, bool, len, round, math.floor, math.ceil, sum, np.argmax, np.argmin, np.sum)
LARGEST = (max, min, np.maximum, np.minimum)  # of several
COUNTING = (sum, np.sum, np.count_nonzero, np.bincount, collections.Counter)
# Of as many as are different.
APART = (set, frozenset, dict, np.unique, collections.Counter, itertools.groupby)
PICKS = (max, min, sorted, heapq.nlargest, heapq.nsmallest)  # which a key says
REDUCED = (max, min, next, math.fsum, math.prod, np.mean, np.max, np.min, np.amax, np.median, np.prod)
TO_ONE = (*COUNTING, *LARGEST, *REDUCED)  # number, of as many as there are
FILLS = frozenset(  # methods of arrays that may be told of an array to write into
    (
        *("all", "any", "argmax", "argmin", "choose", "clip", "compress", "cumprod", "cumsum", "dot"),
        *("max", "mean", "min", "prod", "round", "std", "sum", "take", "trace", "var"),
    )
)
REDUCES = ("sum", "mean", "max", "min", "argmax", "argmin", "prod", "item")  # methods: to one number
AVERAGES = (np.mean, np.median)  # of those that are entrywise: which divide by how many there are
MULTIPLIES = (math.prod, np.prod, np.dot, np.einsum, np.matmul, np.inner, np.outer)
SUMS = (*COUNTING, *MULTIPLIES, math.fsum, np.mean)  # of as many as there are
SIZED = (
    *FILLED,
    *COUNTED,
    *(itertools.islice, itertools.repeat, np.repeat, np.tile, np.flatnonzero, np.nonzero),
    np.resize,
)
# Functions of NumPy's: what they give has a shape that follows from those of the arrays that they have to be
# given, and from what they may be given beside.
SHAPED = (
    *(np.linalg.solve, np.linalg.inv, np.linalg.pinv, np.linalg.cholesky, np.linalg.norm, np.linalg.det),
    *(np.linalg.eigh, np.linalg.eigvalsh, np.linalg.slogdet, np.linalg.svd, np.linalg.qr),
    *(np.all, np.any, np.allclose, np.argpartition, np.around, np.average, np.convolve, np.cross, np.cumprod),
    *(np.digitize, np.interp, np.isclose, np.isin, np.kron, np.lexsort, np.nanmax, np.nanmean, np.nanmin),
    *(np.nansum, np.partition, np.percentile, np.ptp, np.quantile, np.roll, np.round, np.searchsorted),
    *(np.std, np.take, np.take_along_axis, np.tensordot, np.trace, np.var, np.vdot, np.histogram),
)
# What may give entries, or memory, of what it is given.
SHARES = (
    *(list, tuple, dict, set, zip, enumerate, reversed, sorted, iter, next, map, filter, min),
    *(max, getattr, np.asarray, np.asanyarray, np.atleast_1d, np.reshape, np.ravel),
    *(np.transpose, np.array_split, np.split, np.squeeze, np.require, np.broadcast_to, np.histogram),
    *(np.array, np.einsum, np.float64, sum, heapq.nlargest, heapq.nsmallest, dict.fromkeys),
)
COPIES = (dict.fromkeys, list, tuple, dict, set, sorted, np.array, collections.deque)  # with equal entries
SHARED = frozenset(
    (
        *("get", "setdefault", "pop", "popleft", "values", "items", "copy", "ravel", "reshape"),
        *("transpose", "squeeze", "view", "astype", "tolist", "swapaxes", "popitem"),
        "diagonal",
    )
)
# Methods of containers, arrays and numbers of libraries; one of the user's of that name is looked at, too.
METHODS = frozenset(
    (
        *("append", "appendleft", "extend", "insert", "pop", "popleft", "remove", "clear"),
        *("sort", "reverse", "add", "discard", "update", "setdefault", "items", "keys"),
        *("values", "copy", "count", "index", "sum", "mean", "max", "min", "argmax", "argmin"),
        *("cumsum", "astype", "tolist", "item", "ravel", "flatten", "reshape", "argsort"),
        *("round", "dot", "transpose", "clip", "prod", "most_common", "elements", "is_integer"),
        *("send", "bit_length", "join", "format", "squeeze", "repeat", "popitem", "rotate", "nonzero"),
    )
)
ADDS = frozenset(("append", "appendleft", "extend", "insert"))
MOVES = frozenset(("sort", "reverse", "rotate"))  # what stands where, in the container itself
KINDS = (
    *(list, dict, set, tuple, str, int, float, np.ndarray, np.float64, collections.deque),
    collections.Counter,
)
LOOKS_UP = frozenset(("get", "pop", "setdefault", "take", "item", "__getitem__"))
CHANGES = frozenset(
    (
        *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "send"),
        *("pop", "popleft", "remove", "clear", "discard", "popitem"),
    )
)


# What changes nothing but what it is given first, in which it may put the rest.
IN_FIRST = (
    *(heapq.heapify, heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace),
    *(np.copyto, np.put, np.place, np.putmask, np.fill_diagonal),
)
_TABLED = (*ENTRYWISE, *SIZED, *SHAPED, *AVERAGES, *MULTIPLIES, *SCALARS, *COUNTED)
NOW = ("now", "today")  # texts that NumPy and pandas read as the time
_SIMPLE = frozenset(("builtins", "math", "cmath"))  # whose functions change nothing


def same(value: Foreign, known: Iterable[Foreign]) -> bool:
    """Whether it is one of these objects."""
    bound = isinstance(value, types.BuiltinMethodType)  # made anew whenever it is asked for
    return any(value is one or (bound and type(one) is type(value) and one == value) for one in known)


def leaves_alone(value: Foreign) -> bool:
    """Whether a function of a library is known to change nothing that it is given, except by `out`."""
    holds = (functools.partial, map, filter, itertools.starmap, itertools.accumulate, np.vectorize)
    simple = isinstance(getattr(value, "__self__", None), types.ModuleType) and home_of(value) in _SIMPLE
    kind = isinstance(value, type) and not same(value, holds)
    return kind or simple or same(value, _TABLED) or isinstance(getattr(value, "__self__", value), np.ufunc)


def keeps_alike(value: Foreign) -> bool:
    """Whether what a function of a library makes of alike entries is alike, or is one number."""
    one = isinstance(value, np.ufunc) and value.nout == 1
    return one or same(value, (*ALIKE, *SCALARS, *REDUCED))


def streams(value: Foreign) -> bool:
    """Whether a function of a library makes an iterator."""
    return value is iter or (isinstance(value, type) and hasattr(value, "__next__"))


def writes(value: Foreign, at: Foreign) -> bool:
    """Whether a function of a library may change what it is given at this place, or by this name."""
    fills = isinstance(getattr(value, "__self__", None), np.ufunc) and value.__name__ == "at"
    if fills or same(value, IN_FIRST):
        return type(at) is not int or at == 0
    if not leaves_alone(value) or at in ("out", ...):
        return True
    if not isinstance(value, np.ufunc | types.FunctionType) and home_of(value) != "numpy":
        return False
    place = value.nin if isinstance(value, np.ufunc) else _place_of_out(value)
    return isinstance(at, int) and at >= place


def shapes(value: Foreign, at: Foreign) -> bool:
    """Whether what one of `SHAPED` is given at a place, or by a name, may say which shape it gives."""
    given = inspect.signature(value).parameters
    needed = [name for name, one in given.items() if one.default is one.empty and name != "axis"]
    return at not in needed and not (type(at) is int and at < len(needed))


@functools.cache
def _place_of_out(value: Foreign) -> float:
    """Where a function of NumPy's takes an array to write into; the third place where it does not say."""
    try:
        given = inspect.signature(value).parameters.items()
    except ValueError:
        return 2
    names = [name for name, one in given if one.kind is not one.KEYWORD_ONLY]
    return names.index("out") if "out" in names else math.inf


def is_fresh(value: Foreign) -> bool:
    """Whether what a function of a library makes shares nothing with what it is given."""
    known = leaves_alone(value) and not same(value, SHARES)
    return known and (not isinstance(value, type) or issubclass(value, int | float | complex | str | range))


def is_method(name: str) -> bool:
    """Whether containers, arrays or numbers of libraries have a method of this name."""
    return any(callable(getattr(kind, name, None)) for kind in KINDS)


def may_write(name: str) -> bool:
    """Whether a method of a container or array may change it, or what it is given."""
    return name in CHANGES or name not in METHODS | SHARED | LOOKS_UP


def home_of(value: Foreign) -> str:
    """The module of an object of a library, or a module itself."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        return "scipy.special" if getattr(np, value.__name__, None) is not value else "numpy"
    kind = value if isinstance(value, type) or inspect.isroutine(value) else type(value)
    module = getattr(kind, "__module__", None)
    return module if isinstance(module, str) else type(getattr(value, "__self__", value)).__module__


def is_of_system(module: Foreign, name: str) -> bool:
    """Whether an attribute of a library's module may be another on another machine, tomorrow, or later.

    Of other libraries than Python's own that is any but a float, such as pi: texts and flags are versions.
    What is neither code nor a constant is a setting, or holds some.
    """
    if not isinstance(module, types.ModuleType):
        return False
    value = inspect.getattr_static(module, name, None)
    if isinstance(value, type | types.ModuleType) or callable(value):
        return False
    constant = isinstance(value, str | bytes | int | tuple)
    if module.__name__ not in sys.stdlib_module_names:
        is_numpys = module.__name__.partition(".")[0] == "numpy" and not isinstance(value, list | dict)
        return constant or not (value is None or is_numpys or isinstance(value, float))
    told = (
        module.__name__ in _PURE
        and not name.startswith("_")
        and (constant or isinstance(value, float | complex))
    )
    return not (told or same(value, (sys.maxsize, sys.float_info)))


def is_state(value: Foreign) -> bool:
    """Whether a library's function gives what nothing tells it: a setting, as `decimal.getcontext` does."""
    return kind_of(value) == "pure" and not isinstance(value, type)


def of_generator(name: str) -> Value:
    """What an attribute of a generator is: a method that draws, what its numbers come from, or its state."""
    if name in ("bit_generator", "seed_seq"):
        return Value(own=frozenset((GENERATOR,)))
    kinds = (*_GENERATORS, random.Random)
    drawing = any(callable(inspect.getattr_static(kind, name, None)) for kind in kinds)
    return Value(own=frozenset((("draws", name),))) if drawing else UNKNOWN


def dates(value: Foreign) -> bool:
    """Whether something of pandas reads texts as dates: of some it takes the rest from the clock."""
    owner = getattr(value, "__self__", None)
    of = [one for one in (value, owner) if callable(one) and home_of(one).partition(".")[0] == "pandas"]
    named = any(getattr(one, "__name__", "") in _DATED for one in of)
    return named or (bool(of) and home_of(value).startswith("pandas._libs.tslibs"))


_DATED = frozenset(
    (
        *("Timestamp", "Period", "DatetimeIndex", "PeriodIndex", "DatetimeTZDtype", "PeriodDtype"),
        *("to_datetime", "date_range", "bdate_range", "period_range", "eval", "Grouper"),
    )
)
DATED_METHODS = frozenset(("query", "eval", "tz_localize", "tz_convert"))  # of tables and columns


def is_pure(root: str) -> bool:
    """Whether what a library of this name gives follows from what it is given."""
    return root in _PURE


def kind_of(value: Foreign) -> str:
    """What an object of a library is for us: pure, draws, makes_draws, reflection, unknown."""
    home = home_of(value)
    root = home.partition(".")[0]
    if root in _HOME or (home == "builtins" and getattr(value, "__name__", "") in _REFLECTION):
        own = isinstance(value, type) and issubclass(value, Exception | types.SimpleNamespace)
        return "pure" if own or same(value, (sys.maxsize, sys.float_info)) else "reflection"
    if home == "operator" or home == "_operator":
        found = getattr(value, "__name__", "") in ("methodcaller", "attrgetter")
        return "reflection" if found else "pure"
    if value is builtins.type:
        return "reflection"
    if home.startswith(_RANDOM) or root == "random" or getattr(value, "__name__", "") == "rvs":
        made = isinstance(value, type) or value is np.random.default_rng
        return "makes_draws" if made else "draws"
    if root in FOLLOWED:
        return "makes"
    return "pure" if root in _PURE else "unknown"
