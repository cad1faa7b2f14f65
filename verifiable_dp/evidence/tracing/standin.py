"""Stand-ins for numpy, math and random while code is traced: what they make can take raw rewards.

They are put into the globals of the traced code and of the modules beside it, and taken out again; numpy
itself is left alone.
"""

from __future__ import annotations

import builtins
import functools
import math
import random
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from verifiable_dp.core.kernels import compiles
from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.tracing.arrays import Raw, base, holds_tracked, is_tracked, tainted
from verifiable_dp.evidence.tracing.generator import TrackedGenerator
from verifiable_dp.evidence.tracing.laws import Law
from verifiable_dp.evidence.tracing.ledger import Ledger, NoteKind
from verifiable_dp.evidence.tracing.reach import globals_of
from verifiable_dp.evidence.tracing.waiting_noise import Mixed, Noise

# Most globals, none of which anything stands in for.
PLAIN = frozenset((types.NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset))
# Functions whose sequences are sequences of arrays, not numbers.
_OF_ARRAYS = frozenset(
    (
        *("concatenate", "stack", "vstack", "hstack", "column_stack", "dstack", "block", "select", "choose"),
        *("broadcast_arrays", "meshgrid", "einsum", "lexsort", "ix_", "broadcast_shapes", "where"),
    )
)
_MATH = {
    **{name: getattr(np, name) for name in ("sqrt", "log", "exp", "floor", "ceil", "fabs", "log2", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "expm1", "isnan", "isinf", "isfinite", "tanh")},
    "fsum": lambda values: builtins.sum(values),
    "pow": np.power,
    "trunc": np.trunc,
}
NOT_GIVEN = "not the generator that we pass, so we cannot repeat these draws from its seed"
SEEDED = "made from a seed, not the generator that we pass"


def stacked(values: Foreign, ledger: Ledger) -> Foreign:
    """A list that holds tracked numbers as one tracked array."""
    parts = [stacked(v, ledger) if isinstance(v, list | tuple) else v for v in values]
    parts = [v.as_noise() if isinstance(v, Mixed) else v for v in parts]
    if any(type(v) is Raw and v.given for v in parts):
        ledger.read()
    if not any(isinstance(v, Noise) for v in parts):
        return Raw.of([base(v) for v in parts], ledger, tainted(parts))
    first = next(v for v in parts if isinstance(v, Noise))
    fits = all(
        v.law.kind == first.law.kind and v.shape == first.shape and not v.is_settled
        for v in parts
        if isinstance(v, Noise)
    ) and all(np.shape(v) == first.shape for v in parts)
    if not fits:
        parts = [v.settle() if isinstance(v, Noise) else v for v in parts]
        return Raw.of([base(v) for v in parts], ledger, tainted(parts))
    shape = (len(parts), *first.shape)
    made = Noise(
        ledger,
        Law(first.law.kind, np.zeros(shape), np.zeros(shape)),
        np.full(shape, -1),
        np.zeros(shape),
        whole=all(v.whole for v in parts if isinstance(v, Noise)),
    )
    for i, part in enumerate(parts):
        made[i] = part
    return made


class _Function:
    """A function of numpy's that takes lists of tracked numbers, and whose arrays can take raw rewards."""

    def __init__(self, name: str, real: Foreign, ledger: Ledger) -> None:
        self._name, self._real, self._ledger = name, real, ledger
        self.__name__ = name
        self.__doc__ = getattr(real, "__doc__", None)

    def __getattr__(self, name: str) -> Foreign:
        return getattr(self._real, name)

    def __call__(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        if self._name in ("array", "asarray", "asanyarray", "copy", "ascontiguousarray") and args:
            args = (self._taken(args[0]), *args[1:])
            if isinstance(args[0], Noise):
                return args[0].copy() if len(args) == 1 and not kwargs else self._made(*args, **kwargs)
        elif self._name not in _OF_ARRAYS:
            args = tuple(self._taken(a) for a in args)
        return self._made(*args, **kwargs)

    def _taken(self, value: Foreign) -> Foreign:
        tracks = type(value) in (list, tuple) and holds_tracked(value)
        return stacked(value, self._ledger) if tracks else value

    def _made(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        if self._name in ("array", "asarray", "asanyarray", "ascontiguousarray") and is_tracked(args[0]):
            value = args[0].settle() if isinstance(args[0], Noise | Mixed) else args[0]
            if self._name != "array" and not kwargs and len(args) == 1:
                return value
            found = self._real(base(value), *args[1:], **kwargs)
            if np.may_share_memory(found, base(value)):
                made: Foreign = found.view(Raw)
                made.ledger, made.tainted = self._ledger, tainted(value)
                return made
            return Raw.of(found, self._ledger, tainted(value))
        found = self._real(*args, **kwargs)
        if type(found) is np.ndarray and found.dtype.kind in "fiubc":
            made = found.view(Raw)
            made.ledger, made.tainted, made.own = self._ledger, tainted([args, kwargs]), found.base is None
            return made
        if self._name in ("nditer", "asmatrix") and tainted(args):
            self._ledger.leave(f"numpy.{self._name}")
        return found


class StandIn(types.ModuleType):
    """Stands in for a module.

    Parameters
    ----------
    real
        The module.
    find
        What stands in for what it has under a name: a function of the name and of that.
    keeps
        Whether that is always the same.
    """

    def __init__(
        self, real: Foreign, find: Callable[[str, Foreign], Foreign], *, keeps: bool = False
    ) -> None:
        super().__init__(real.__name__)
        self.__dict__["_real"], self.__dict__["_find"], self.__dict__["_keeps"] = real, find, keeps

    def __getattr__(self, name: str) -> Foreign:
        found = self._find(name, getattr(self._real, name))
        if self._keeps:
            self.__dict__[name] = found
        return found


def _standing(real: types.ModuleType, ledger: Ledger) -> StandIn:
    """What stands in for one of the modules that are followed."""
    kept = real is np or real is math
    return StandIn(real, functools.partial(_FINDERS[real], ledger), keeps=kept)


def _of_numpy(ledger: Ledger, name: str, real: Foreign) -> Foreign:
    if real is np.random:
        return _standing(np.random, ledger)
    return _Function(name, real, ledger) if is_function(real) or real is np.nditer else real


def is_function(value: Foreign) -> bool:
    """Whether this is a function of numpy's on arrays: a ufunc, a builtin or a dispatched one."""
    named = (
        vars(np).get(getattr(value, "__name__", "")) is value
    )  # `getattr` is slow for names unknown to numpy
    return named and callable(value) and not isinstance(value, type)


_LEGACY = {"rand": "random", "random_sample": "random", "randn": "standard_normal", "randint": "integers"}


def _of_random(ledger: Ledger, name: str, real: Foreign) -> Foreign:
    """`numpy.random` used by itself: followed as far as its law goes, and told of."""
    if name == "default_rng":
        return functools.partial(_own, ledger)
    if name == "seed" or name.startswith("_") or isinstance(real, type):
        return real

    def draw(*args: Foreign, **kwargs: Foreign) -> Foreign:
        ledger.note(f"draws from np.random, {NOT_GIVEN}")
        bits = np.random.PCG64([int(np.random.randint(2**31)) for _ in range(4)])  # noqa: NPY002
        if name in ("rand", "randn") and args:
            args = (args,)
        method = getattr(TrackedGenerator.of(bits, ledger), _LEGACY.get(name, name), None)
        return (method or real)(*args, **kwargs)

    return draw


def _own(ledger: Ledger, seed: Foreign = None) -> Foreign:
    """A generator that the code makes."""
    if isinstance(seed, TrackedGenerator):
        return seed
    ledger.note(f"draws from np.random.default_rng, {NOT_GIVEN if seed is None else SEEDED}")
    if tainted(seed):
        ledger.lead("chance", base(seed))
    plain = base(seed)
    ledger.coin("default_rng", plain if isinstance(plain, int | np.integer) else None)
    return TrackedGenerator.of(np.random.default_rng(plain).bit_generator, ledger)


def _of_math(ledger: Ledger, name: str, real: Foreign) -> Foreign:
    of_arrays = _MATH.get(name)
    if of_arrays is None:
        return real
    return lambda *args: of_arrays(*args) if holds_tracked(args) else real(*args)


def _of_python(ledger: Ledger, name: str, real: Foreign) -> Foreign:
    """The module `random`: coins that are told of."""
    if not callable(real) or isinstance(real, type) or name in ("seed", "getstate", "setstate"):
        return real

    def draw(*args: Foreign, **kwargs: Foreign) -> Foreign:
        ledger.note(f"draws from the module random, {NOT_GIVEN}")
        if tainted(args) or tainted(kwargs):
            ledger.lead("chance")
        drawn = real(*args, **kwargs)
        ledger.coin(f"random.{name}", drawn if isinstance(drawn, int | float) else None)
        return drawn

    return draw


_FINDERS = {np: _of_numpy, np.random: _of_random, math: _of_math, random: _of_python}


def _compiled(real: Foreign, ledger: Ledger) -> Foreign:
    """Compiled code: given plain arrays, and told of."""

    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        name = getattr(real, "__name__", "?")
        if any(isinstance(a, np.random.Generator) for a in (*args, *kwargs.values())):
            ledger.note(f"we cannot follow draws in compiled code ({name})", NoteKind.UNFOLLOWED_DRAWS)
        else:
            ledger.note(f"we would not see draws made inside compiled code ({name})", NoteKind.COMPILED)
        found = real(*[base(a) for a in args], **{key: base(value) for key, value in kwargs.items()})
        if tainted(args) or tainted(kwargs):
            ledger.lead("number", found)
        return found

    return call


def _extreme(real: Foreign, pick: Foreign, ledger: Ledger) -> Foreign:
    """`max` or `min`: of tracked numbers a tracked number, of keys that are raw a position."""

    def choose(*args: Foreign, key: Foreign = None, **kwargs: Foreign) -> Foreign:
        values = list(args[0]) if len(args) == 1 else list(args)
        if not values or (key is None and not holds_tracked(values)):
            return real(values, **({"key": key} if key else {}), **kwargs)
        if key is None:
            if any(np.ndim(v) for v in values):
                return real(values)
            return functools.reduce(pick, values)
        return values[_ranked(values, key, ledger, lambda keys: keys.index(real(keys)))]

    return choose


def _memory(value: Foreign) -> memoryview:
    """`memoryview`, which shows raw numbers as they are."""
    if type(value) is Raw:
        value.left()
    return memoryview(value)


def _ranked(values: list[Foreign], key: Foreign, ledger: Ledger, answer: Function[Foreign]) -> Foreign:
    """What follows from the keys of `values`, told of if they are raw."""
    keys = [key(value) for value in values]
    raw = tainted(keys)
    found = answer([base(k) for k in keys])
    if raw:
        ledger.lead("argmax", found)
    return found


def _sorted(ledger: Ledger) -> Foreign:
    def ordered(values: Foreign, *, key: Foreign = None, reverse: bool = False) -> list[Foreign]:
        values = list(values)
        if key is None and not holds_tracked(values):
            return builtins.sorted(values, reverse=reverse)
        if key is None and not any(np.ndim(v) for v in values):
            ranks = np.argsort([float(base(v)) for v in values], kind="stable")
            if tainted(values):
                # The order of numbers is hidden as long as only the sorted numbers are used.
                order = ranks[::-1] if reverse else ranks
                return [values[i] for i in order.tolist()]

        def rank(keys: list[Foreign]) -> list[int]:
            return builtins.sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)

        return [values[i] for i in _ranked(values, key or (lambda v: v), ledger, rank)]

    return ordered


# ---------------------------------------------------------------- where they are put


def _replacement(value: Foreign, ledger: Ledger, numpy: StandIn) -> Foreign:
    """What stands in for a global; None for nothing."""
    if value is np:
        return numpy
    if isinstance(value, types.ModuleType):
        return _standing(value, ledger) if value in _FINDERS else None
    if type(value) in PLAIN or isinstance(value, type):
        return None
    if isinstance(value, np.random.Generator) and not isinstance(value, TrackedGenerator):
        words = f"draws from its own generator, {NOT_GIVEN}"
        return TrackedGenerator.of(value.bit_generator, ledger, words)
    if compiles(value):
        return _compiled(value, ledger)
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    if module == "math" and getattr(math, name, None) is value:
        return _of_math(ledger, name, value)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, random.Random) and getattr(random, name, None) == value:
        return _of_python(ledger, name, value)
    if value is np.random.default_rng or isinstance(owner, np.random.RandomState):
        return _of_random(ledger, name, value)
    return getattr(numpy, name) if is_function(value) else None


@contextmanager
def standing_in(scopes: Mapping[str, dict[str, object]], ledger: Ledger) -> Iterator[None]:
    """Put stand-ins into the globals of the user's code for a while."""
    numpy, changed = _standing(np, ledger), []
    extra = {
        "max": _extreme(builtins.max, np.maximum, ledger),
        "min": _extreme(builtins.min, np.minimum, ledger),
        "sorted": _sorted(ledger),
        "memoryview": _memory,
    }
    missing = object()
    try:
        for scope in globals_of(scopes):
            for name, value in list(scope.items()):
                other = _replacement(value, ledger, numpy) if not name.startswith("__") else None
                if other is not None:
                    changed.append((scope, name, value))
                    scope[name] = other
            for name, other in extra.items():
                if name not in scope:
                    changed.append((scope, name, missing))
                    scope[name] = other
        yield
    finally:
        for scope, name, value in changed:
            if value is missing:
                scope.pop(name, None)
            else:
                scope[name] = value
