"""Questions about a tracked number that ask none of its methods: answered truthfully, or they end the bound.

``x is True``, ``id(x)`` or ``type(x)`` look at an object, and the object that stands for a number is not the
one that a plain run would have. Identity is therefore compared by `identical`, and whatever the traced code
calls goes through `asked` first, which decides by the object that is called, however the code came by it:
functions of the traced code are followed, those that are known to use a number through its methods may take
it, and any other ends the bound once it is handed a tracked number.
"""

from __future__ import annotations

import _heapq
import _operator
import builtins
import collections
import copy
import functools
import heapq
import itertools
import math
import random
import types
from collections.abc import Iterator

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import outside
from verifiable_dp.evidence.symbolic.boxes import Box
from verifiable_dp.evidence.symbolic.subsets import Sampled
from verifiable_dp.evidence.symbolic.terms import Lazy, Term, nature
from verifiable_dp.evidence.symbolic.world import World, is_numerical

_IDENTITY = "data or noise are compared by identity"
_NUMBERS = (bool, int, float, np.bool_, np.int64, np.float64)
_FLOATS = (float, np.float64)

# ---------------------------------------------------------------- what is tracked


def is_tracked(value: Foreign) -> bool:
    """Whether a value stands for a number or an array of a plain run."""
    kind = type(value)
    return kind in (Term, Box, Sampled) or issubclass(kind, Lazy) or getattr(kind, "shows", False)


def _parts(value: Foreign) -> Iterator[Foreign]:
    """What stands in a container."""
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset | collections.deque) or (
        type(value) is np.ndarray and value.dtype == object
    ):
        yield from value.ravel().tolist() if type(value) is np.ndarray else value


def _holds(value: Foreign, depth: int = 6) -> bool:
    """Whether something tracked is or stands in a value."""
    if is_tracked(value):
        return True
    return any(depth == 0 or _holds(part, depth - 1) for part in _parts(value))


def _real(value: Foreign) -> Foreign:
    """A class, function or module itself where something stands in for it."""
    if isinstance(value, type):
        return getattr(value, "stands_for", value)
    if not type(value).__module__.startswith(_OWN):
        return value
    return getattr(value, "__dict__", {}).get("_real", value)


_OWN = ("verifiable_dp.evidence.symbolic.", "verifiable_dp.evidence.tracing.standin")


# ---------------------------------------------------------------- identity and kinds


def identical(world: World, left: Foreign, right: Foreign) -> bool:
    """``left is right``; of a tracked number only where the other can be no number of a plain run."""
    tracked = [is_tracked(value) for value in (left, right)]
    if not any(tracked):
        return _real(left) is _real(right)
    other = left if tracked[1] else right
    if all(tracked) or isinstance(other, (*_NUMBERS, np.generic, np.ndarray)):
        raise world.hidden(_IDENTITY)
    return False


def _kinds(value: Foreign) -> tuple[type, ...]:
    """The types that a number or an array may have in a plain run."""
    if type(value) in (Box, Sampled) or getattr(type(value), "shows", False):
        return (np.ndarray,)
    given = value.world.given if type(value) is Term and not value.whole else ()
    if nature(value) == "uniform" or (given and value.raw and given.issuperset(value.raw)):
        return _FLOATS  # which sums and multiples of them are too
    return _NUMBERS


def _agreed(world: World, found: set[Foreign], what: str) -> Foreign:
    if len(found) != 1:
        raise world.stop(f"the code asks for {what} of data or noise")
    return found.pop()


def is_instance(world: World, value: Foreign, kinds: Foreign) -> bool:
    """As ``isinstance``."""
    if not is_tracked(value):
        return isinstance(value, kinds)
    return bool(_agreed(world, {issubclass(kind, kinds) for kind in _kinds(value)}, "the type"))


def kind_of(world: World, *args: Foreign, **kwargs: Foreign) -> Foreign:
    """As ``type``."""
    if len(args) != 1 or not is_tracked(args[0]):
        return type(*args, **kwargs)
    return _agreed(world, {*_kinds(args[0])}, "the type")


def has(world: World, value: Foreign, name: str) -> bool:
    """As ``hasattr``."""
    if not is_tracked(value):
        return hasattr(value, name)
    return bool(_agreed(world, {hasattr(kind, name) for kind in _kinds(value)}, f"the attribute {name}"))


def attribute(world: World, value: Foreign, name: str, *default: Foreign) -> Foreign:
    """As ``getattr``."""
    if is_tracked(value) and name == "__class__":
        return kind_of(world, value)
    if is_tracked(value) and not has(world, value, name):
        if default:
            return default[0]
        raise AttributeError(name)
    return getattr(value, name, *default)


_ANSWERED = {isinstance: is_instance, type: kind_of, hasattr: has, getattr: attribute}


# ---------------------------------------------------------------- what is called


def _of(module: Foreign, names: str) -> set[Foreign]:
    return {getattr(module, name) for name in names.split() if hasattr(module, name)}


# They use what they are given through its methods, and call no function that they are given.
_PLAIN = frozenset(
    _of(
        builtins,
        "abs all any bin bytearray bytes callable chr complex delattr dict divmod enumerate format"
        " frozenset globals hash hex issubclass len list locals next object oct open ord pow print range"
        " repr reversed round set setattr slice staticmethod classmethod property str super tuple zip",
    )
    | _of(
        _operator,
        "abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv"
        " ilshift imatmul imod imul index indexOf inv invert ior ipow irshift isub itruediv ixor le"
        " length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor"
        " itemgetter attrgetter methodcaller",
    )
    | _of(_heapq, "heapify heappop heappush heappushpop heapreplace")
    | _of(
        itertools,
        "chain combinations combinations_with_replacement compress count cycle islice pairwise permutations"
        " product repeat tee zip_longest",
    )
    | _of(collections, "deque OrderedDict")
    | {object.__setattr__, object.__delattr__, object.__init__, object.__init_subclass__}
    | {itertools.chain.from_iterable}
    | {value for value in vars(math).values() if callable(value)}
)
# They may call what they are given.
_CALLING = frozenset(
    _of(builtins, "filter iter map max min sorted sum")
    | _of(_operator, "call")
    | _of(itertools, "accumulate dropwhile filterfalse groupby starmap takewhile")
    | {functools.reduce, functools.partial, functools.cmp_to_key, collections.defaultdict}
)
_CONTAINERS: tuple[type, ...] = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    str,
    bytes,
    bytearray,
    range,
    slice,
    collections.deque,
)
_CONTAINERS += (collections.OrderedDict, collections.defaultdict, np.ndarray, np.random.Generator)
_CONTAINERS += (np.random.RandomState, random.Random, np.ufunc, types.GeneratorType)
_GETTERS = tuple(_of(_operator, "itemgetter attrgetter methodcaller"))
_BUILTIN: tuple[type, ...] = (types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType)
_BUILTIN += (types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_REPLACED = (*_BUILTIN, np.ufunc, type(np.mean))
_MODULES = frozenset(str(module.__file__) for module in (copy, functools, heapq, collections, random))


def _is_known(file: str) -> bool:
    """Whether the code of a library's file uses numbers through their methods."""
    return file in _MODULES or is_numerical(file)


def asked(world: World, function: Foreign) -> Foreign:
    """What is called in place of what the traced code calls: it may be given what is tracked."""
    kind = type(function)
    if kind in _BUILTIN or kind is type:
        if any(function is one for one in (eval, exec)):
            raise world.stop(f"{function.__name__} runs code that we cannot follow")
        if (answer := _answer_of(function)) is not None:
            return functools.partial(answer, world)
        if (other := world.extra.get(function)) is not None:
            return _calling(world, other)
    trust = _trust(world, function)
    if trust == _PLAINLY:
        return function
    other = world.instead(function) if world.instead is not None and kind in _REPLACED else None
    return (_calling if other is not None or trust == _CALLS else _guarded)(world, other or function)


_PLAINLY, _CALLS, _UNKNOWN = range(3)


def _trust(world: World, function: Foreign) -> int:
    """Whether it may be given what is tracked, and if so whether it calls functions that it is given."""
    kind = type(function)
    if what := outside.read_by(function):
        raise outside.stopped(world, what)
    for called in _called_by_generated(function):
        if not isinstance(called, type) and _trust(world, called) != _PLAINLY:
            raise world.stop(
                f"{getattr(called, '__name__', called)} is called, although no code in the file calls it by "
                "name"
            )
        if isinstance(called, type) and called not in _CONTAINERS:
            _trust(world, called)
    if kind is types.MethodType:
        return _trust(world, function.__func__)
    if kind is types.FunctionType:
        if function.__code__.co_filename in world.files:
            return _PLAINLY
        return _CALLS if _is_known(function.__code__.co_filename) else _UNKNOWN
    if kind is functools.partial:
        given = (*function.args, *function.keywords.values())
        harmless = all(_careful(world, value) is value for value in given)
        return _trust(world, function.func) if harmless else _UNKNOWN
    if _is_plain(function):
        return _PLAINLY
    if _may_call(function):
        return _CALLS
    called = () if isinstance(function, type) else kind.__mro__
    own = next((vars(owner)["__call__"] for owner in called if "__call__" in vars(owner)), None)
    return _trust(world, own) if isinstance(own, types.FunctionType) else _UNKNOWN


def _called_by_generated(kind: Foreign) -> Iterator[Foreign]:
    """What the generated constructor of a class may call, as that of a dataclass its `default_factory`s."""
    made = getattr(kind, "__init__", None) if isinstance(kind, type) else None
    if isinstance(made, types.FunctionType) and made.__code__.co_filename.startswith("<"):
        cells = [cell.cell_contents for cell in made.__closure__ or ()]
        names = [made.__globals__.get(name) for name in made.__code__.co_names]
        yield from (one for one in (*cells, *names) if callable(one) and one is not kind)


def _answer_of(function: Foreign) -> Foreign:
    return next((answer for known, answer in _ANSWERED.items() if known is function), None)


def _is_plain(function: Foreign) -> bool:
    """Whether it uses numbers through their methods, and calls nothing that it is given."""
    kind = type(function)
    if kind in _BUILTIN:
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType) or kind is not types.BuiltinFunctionType:
            return function in _PLAIN or (
                kind is types.MethodDescriptorType and issubclass(function.__objclass__, _CONTAINERS)
            )
        held = owner if isinstance(owner, type) else type(owner)
        return issubclass(held, _CONTAINERS) and function.__name__ != "sort"
    if isinstance(function, type):
        return function in _PLAIN or _makes(function)
    return kind in _GETTERS


def _makes(kind: type) -> bool:
    """Whether a class makes numbers or text of what it is given, or stores it by functions of Python's."""
    if issubclass(kind, (np.generic, BaseException)):
        return True
    made = [kind.__new__, kind.__init__]
    own = (object.__new__, object.__init__, dict.__init__, list.__init__, tuple.__new__, set.__init__)
    return kind is not type and all(
        isinstance(part, types.FunctionType)
        or part in own
        or (part in (dict.__new__, list.__new__, set.__new__, int.__new__, float.__new__, str.__new__))
        for part in made
    )


def _may_call(function: Foreign) -> bool:
    """Whether it uses numbers through their methods; it may call what it is given."""
    kind = type(function)
    if kind in _BUILTIN:
        owner = getattr(function, "__self__", None)
        return function in _CALLING or isinstance(owner, _CONTAINERS)
    if isinstance(function, type):
        return function in _CALLING
    return kind is np.ufunc or kind.__module__.startswith(("numpy", *_OWN))


def _calling(world: World, function: Foreign) -> Foreign:
    """The function, given functions that may be called with what is tracked."""

    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        args = tuple(_careful(world, value) for value in args)
        return function(*args, **{key: _careful(world, value) for key, value in kwargs.items()})

    return call


def _careful(world: World, value: Foreign) -> Foreign:
    """A function that a library may call, asked when it is called; anything else as it is."""
    kind = type(value)
    if kind in _BUILTIN or kind is functools.partial or value is type:
        return asked(world, value)
    if kind is types.FunctionType and (what := outside.read_by(value)):
        raise outside.stopped(world, what)
    return value


def _guarded(world: World, function: Foreign) -> Foreign:
    """The function, which ends the bound once it is given a tracked number; arrays it gets as plain ones."""
    name = getattr(function, "__name__", type(function).__name__)

    def handed(value: Foreign) -> Foreign:
        return np.asarray(value) if type(value) is Box else value

    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        args, kwargs = tuple(map(handed, args)), {key: handed(value) for key, value in kwargs.items()}
        if any(_holds(value) for value in (*args, *kwargs.values())):
            words = f"{name} receives data or noise, and we do not know how it uses them"
            pythons = getattr(function, "__module__", None) in ("builtins", "_operator")  # as `id` and `is_`
            raise world.hidden(words) if pythons else world.stop(words)
        result = function(*args, **kwargs)
        if not outside.is_told(function, result):
            raise outside.stopped(world, f"the result of {name} from Python's standard library")
        return result

    return call
