"""Stand-ins for numpy, math, random and some builtins while a bound is looked for.

What they make can hold terms. Randomness of any other source than the generator that the code is given hides
nothing, for nobody knows whether it repeats: it ends the bound.
"""

from __future__ import annotations

import bisect
import builtins
import functools
import inspect
import itertools
import math
import random
import secrets
import statistics
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from scipy import special

from verifiable_dp.core.kernels import compiles
from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic import (
    adding,
    answers,
    array_functions,
    box_memory,
    boxes,
    comparing,
    elementwise,
    matrices,
    outside,
    samplers,
    subsets,
    terms,
)
from verifiable_dp.evidence.symbolic.array_protocol import calling, on_arrays
from verifiable_dp.evidence.symbolic.boxes import Box, has_own, wrapped
from verifiable_dp.evidence.symbolic.enclosures import Quantile
from verifiable_dp.evidence.symbolic.kinds import NUMBERS, of_pandas
from verifiable_dp.evidence.symbolic.randoms import (
    OWN_CLASS,
    FollowedRandom,
    Refused,
    Sources,
    in_place,
    name_of_secret,
    refused,
    secret,
)
from verifiable_dp.evidence.symbolic.terms import Term, number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.foreign import PYTHON_SEED
from verifiable_dp.evidence.tracing.reach import globals_of
from verifiable_dp.evidence.tracing.standin import PLAIN, StandIn, is_function

_AS_ARRAYS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfarray")
_MATH = {
    **{name: getattr(np, name) for name in ("sqrt", "log", "exp", "floor", "ceil", "fabs", "log1p", "trunc")},
    "pow": np.power,
    "copysign": np.copysign,
    **{name: getattr(np, name) for name in ("tan", "sin", "cos", "expm1", "log2", "log10")},
    "atanh": np.arctanh,
}


def _named(value: Foreign) -> Foreign:
    return getattr(value, "stands_for", value) if isinstance(value, type) else value


class _Function:
    """A function of numpy's that takes and makes boxes."""

    def __init__(self, real: Foreign, world: World) -> None:
        self._real, self._world = real, world
        self.__name__, self.__doc__ = real.__name__, real.__doc__

    def __getattr__(self, name: str) -> Foreign:
        return getattr(self._real, name)

    def __call__(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        args = tuple(_named(a) for a in args)
        kwargs = {key: _named(value) for key, value in kwargs.items()}
        if self._real.__name__ in _AS_ARRAYS and args:
            return self._array(*args, **kwargs)
        if self._real is np.fromiter:
            values, dtype, *count = args if len(args) > 1 else (args[0], kwargs.pop("dtype"))
            count = [n for n in (*count, *kwargs.values()) if n >= 0]
            values = list(itertools.islice(values, *count) if count else values)
            return _Function(np.array, self._world)._array(values, dtype)
        if not (args or kwargs) and (what := outside.read_by(self._real)):
            raise outside.stopped(self._world, what)
        if not (has_own(args) or has_own(list(kwargs.values()))):
            found = self._real(*args, **kwargs)
            if self._real is np.empty or self._real is np.empty_like:
                found = _unset(found)
            return _boxed(self._world, found, (*args, *kwargs.values()))
        if isinstance(self._real, np.ufunc):
            args = tuple(wrapped(self._world, a) if type(a) in (list, tuple) else a for a in args)
            out = kwargs.pop("out", args[self._real.nin :] or None)
            return on_arrays(self._world, self._real, "__call__", args[: self._real.nin], out, kwargs)
        return calling(self._world, self._real, args, kwargs)

    def _array(self, value: Foreign, dtype: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        if not has_own(value):
            return _boxed(self._world, self._real(value, dtype, *args, **kwargs), (value,))
        made = wrapped(self._world, value)
        if type(made) is not Box:
            made = Box.of(self._world, boxes.objects([made], ()))
        made = made if dtype is None else made.astype(dtype, copy=False)
        held = made.held
        found = self._real(held, *((None, *args) if args else ()), **kwargs)
        return box_memory.given_back(found, [(made, held)], lambda one: boxes.like(made, one))


def _boxed(world: World, found: Foreign, given: Sequence[Foreign] = ()) -> Foreign:
    """What NumPy made of plain things; what shares memory with a plain array stays one."""
    arrays = [value for value in given if type(value) is np.ndarray]

    def part(one: Foreign) -> Foreign:
        shares = type(one) is not np.ndarray or any(np.may_share_memory(one, array) for array in arrays)
        return one if shares else wrapped(world, one)

    return box_memory.each(part, found)


_Find = Function[Foreign]  # what stands in for what a module has under a name


def _standing(real: Foreign, world: World) -> Foreign:
    """What stands in for a module, one in a run; None for nothing."""
    pandas, stats = sys.modules.get("pandas"), sys.modules.get("scipy.stats")
    own = next((find for module, find in _FINDERS if real is module), None)
    if own is None and pandas is not None and real is pandas:
        own = of_pandas
    if own is None and stats is not None and (real is stats or real is sys.modules["scipy"]):
        own = _of_scipy
    if own is None:
        return None
    made = StandIn(real, functools.partial(own, world=world), keeps=own in (_of_numpy, _of_math))
    return world.kept.setdefault(("stand-in", id(real)), made)


def _of_numpy(name: str, real: Foreign, world: World) -> Foreign:
    if real is np.random:
        return _standing(real, world)
    if real is np.vectorize:
        return functools.partial(_Entrywise, world)
    return _Function(real, world) if is_function(real) else real


class _Entrywise:
    """``np.vectorize``: a function of each entry."""

    def __init__(self, world: World, function: Foreign, *args: Foreign, **kwargs: Foreign) -> None:
        self._world, self._function, self._plain = world, function, np.vectorize(function, *args, **kwargs)

    def __call__(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        if kwargs or not has_own(args):
            return _boxed(self._world, self._plain(*args, **kwargs))
        arrays = np.broadcast_arrays(*(boxes.as_objects(self._world, a) for a in args))
        made = [self._function(*values) for values in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
        found = wrapped(self._world, made) if self._plain.otypes else boxes.of_first_type(self._world, made)
        return found.reshape(arrays[0].shape)


def _elsewhere(name: str, real: Foreign, world: World, module: str) -> Foreign:
    """What draws from somewhere else."""
    if not callable(real) or isinstance(real, type):
        return real

    def draw(*args: Foreign, **kwargs: Foreign) -> Foreign:
        raise world.stop(f"{module}.{name} draws from a generator other than the one that we pass")

    return draw


class _Inverse:
    """A law of ``scipy.stats`` without shape, whose inverse makes noise of uniform draws."""

    def __init__(self, real: Foreign, world: World) -> None:
        self._real, self._world = real, world

    def __call__(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        return self._real(*args, **kwargs)

    def __getattr__(self, name: str) -> Foreign:
        real = getattr(self._real, name)
        return functools.partial(self._at, real) if name in ("ppf", "isf") else real

    def _at(self, real: Foreign, q: Foreign, loc: Foreign = 0, scale: Foreign = 1) -> Foreign:
        if not has_own((q, loc, scale)):
            return real(q, loc, scale)

        def unit(value: Foreign) -> Foreign:
            if terms.nature(value) == "uniform":
                return value.through(Quantile(real.__self__, real.__name__ == "isf"))
            return real(
                boxes.plain(self._world, value, "we cannot bound how much a function of raw {data} changes")
            )

        made = boxes.as_objects(self._world, q)
        found = [unit(value) for value in made.ravel().tolist()]
        return (wrapped(self._world, found).reshape(made.shape) if made.ndim else found[0]) * scale + loc


def _unset(found: Foreign) -> Foreign:
    """An array whose entries may be anything until they are set: what is read of them then shows."""
    if found.dtype.kind in "fc":
        found.fill(np.nan)
    elif found.dtype.kind in "iu":
        found.fill(np.iinfo(found.dtype).max)
    return found


def _is_law(value: Foreign) -> bool:
    stats = sys.modules.get("scipy.stats")
    known = stats is not None and isinstance(value, stats.rv_continuous) and not value.shapes
    return known and any(value is law for law in vars(stats).values())  # and no law of the user's


def _of_scipy(name: str, real: Foreign, world: World) -> Foreign:
    """Wishart noise and inverse distribution functions are followed."""
    if name in ("stats", "wishart", "special") or _is_law(real):
        return _replacement(real, world) or real
    return real


def _of_numpy_random(name: str, real: Foreign, world: World) -> Foreign:
    """What draws from NumPy's own generator follows the run."""
    other = world.sources.instead_of(real)
    return _elsewhere(name, real, world, "numpy.random") if other is None else other


def _of_random(name: str, real: Foreign, world: World) -> Foreign:
    """Functions of Python's module draw from a generator that follows the run."""
    if real is random.Random:
        return functools.partial(FollowedRandom.seeded, world)
    if name == "seed" or isinstance(real, type) or not callable(real):
        return _elsewhere(name, real, world, "random")
    return getattr(refused(world, "random") or world.python, name)


def _of_secrets(name: str, real: Foreign, world: World) -> Foreign:
    """One state for all that the module ``secrets`` draws, as `system_seeded` has."""
    if world.system is None:
        world.system = FollowedRandom(world, random.Random(world.chooser.number))
    return secret(name, world.system) or _elsewhere(name, real, world, "secrets")


def _of_math(name: str, real: Foreign, world: World) -> Foreign:
    ufunc = _MATH.get(name)
    if name == "fsum":
        return _sum(world)
    if ufunc is None:
        return real

    def compute(*args: Foreign) -> Foreign:
        if not has_own(args):
            return real(*args)
        found = on_arrays(world, ufunc, "__call__", args, None, {})
        whole = name in ("floor", "ceil", "trunc") and issubclass(type(found), np.generic)
        return int(found) if whole else found

    return compute


_MEANS = {statistics.mean: np.mean, statistics.fmean: np.mean, statistics.median: np.median}
_MEANS |= {statistics.pvariance: np.var, statistics.pstdev: np.std}


def _of_statistics(name: str, real: Foreign, world: World) -> Foreign:
    other = _MEANS.get(real)

    def compute(data: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
        data = list(data)
        if other is None or args or kwargs or not has_own(data):
            return real(data, *args, **kwargs)
        return calling(world, other, (data,), {})

    return compute if other is not None else real


def _of_bisect(name: str, real: Foreign, world: World) -> Foreign:
    def place(a: Foreign, x: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
        if not boxes.has_terms(a) and not boxes.has_terms(x):
            return real(a, x, *args, **kwargs)
        if args or kwargs or real not in _BISECTING:
            raise world.stop_raw(f"we cannot follow bisect.{name} of raw {{data}}")
        return int(calling(world, np.searchsorted, (a, x), {}))

    return place if callable(real) else real


_BISECTING = (bisect.bisect, bisect.bisect_left, bisect.bisect_right)


def _shifted(values: Foreign, axis: Foreign) -> tuple[Foreign, Foreign]:
    """Numbers of which there may be no exponentials less the largest, and that."""
    ends = [
        end for v in values.held.ravel().tolist() if terms.is_term(v) and not v.noise for end in v.range()
    ]
    if all(abs(end) < 700 for end in ends):
        return values, None
    largest = values.max(axis=axis, keepdims=True)
    return values - largest, largest


def _of_special(name: str, real: Foreign, world: World) -> Foreign:
    numpy = _standing(np, world)

    def softmax(x: Foreign, axis: Foreign = None) -> Foreign:
        if not has_own(x):
            return real(x, axis=axis)
        powers = numpy.exp(_shifted(wrapped(world, x), axis)[0])
        return powers / powers.sum(axis=axis, keepdims=True)

    def logsumexp(a: Foreign, axis: Foreign = None, **kwargs: Foreign) -> Foreign:
        if not has_own(a) or kwargs:
            return real(a, axis=axis, **kwargs)
        values, shift = _shifted(wrapped(world, a), axis)
        found = numpy.log(numpy.exp(values).sum(axis=axis))
        return found if shift is None else found + shift.reshape(np.shape(found))

    return {"softmax": softmax, "logsumexp": logsumexp}.get(name, real)


def _extreme(real: Foreign, sign: int, world: World) -> Foreign:
    """`max` or `min`: of keys that are terms, the position of the largest, raw where they are.

    Of keys with more than one number the first ones count, where those after them are public.
    """
    pick = comparing.most if sign > 0 else comparing.least

    def choose(*args: Foreign, key: Foreign = None, **kwargs: Foreign) -> Foreign:
        values = list(args[0]) if len(args) == 1 else list(args)
        if not values:
            return real(values, **({"key": key} if key else {}), **kwargs)
        if key is None:
            if len(values) == 2 and {"uniform", "veiled"} & {*map(terms.nature, values)}:
                return on_arrays(world, np.maximum if sign > 0 else np.minimum, "__call__", values, None, {})
            tracked = any(type(number(v)) is Term for v in values)
            return adding.either(pick(values), map(number, values)) if tracked else real(values)
        keys = [number(key(value)) for value in values]
        firsts = [number(k[0]) if type(k) is tuple and k and not has_own(k[1:]) else k for k in keys]
        places = all(type(v) is int and v == i for i, v in enumerate(values))
        if (
            places
            and any(map(answers.is_raw, firsts))
            and not any(type(k) is Term and k.noise for k in firsts)
        ):
            return array_functions.position_of_largest(
                world, firsts if sign > 0 else [adding.opposite(k) for k in firsts]
            )
        if not any(type(k) is Term for k in keys):
            return values[keys.index(real(keys))]
        return values[comparing.largest(world, keys if sign > 0 else [adding.opposite(k) for k in keys])]

    return choose


def _sum(world: World) -> Foreign:
    def added(values: Foreign, /, start: Foreign = 0) -> Foreign:
        if isinstance(values, subsets.Sampled):
            return adding.add(values.sum(), start)
        values = list(values)
        if any(type(number(v)) is Term for v in values) and not any(type(v) is Box for v in values):
            return adding.total([start, *(elementwise.ordinary(v) for v in values)])
        return builtins.sum(values, start)

    return added


def _sorted(world: World) -> Foreign:
    def in_order(values: Foreign, *, key: Foreign = None, reverse: bool = False) -> list[Foreign]:
        values = list(values)
        if key is None and any(type(number(v)) is Term for v in values):
            found = array_functions.ordered(values)
            return found[::-1] if reverse else found
        return builtins.sorted(values, key=key, reverse=reverse)

    return in_order


def _compiled(real: Foreign, world: World) -> Foreign:
    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        if has_own(args) or has_own(list(kwargs.values())):
            raise world.stop(f"we cannot follow compiled code ({getattr(real, '__name__', '?')})")
        return real(*args, **kwargs)

    return call


# Modules that something stands in for; their functions, too, where they were imported by name.
_FINDERS: tuple[tuple[Foreign, _Find], ...] = (
    (np, _of_numpy),
    (np.random, _of_numpy_random),
    (math, _of_math),
    (random, _of_random),
    (secrets, _of_secrets),
    (special, _of_special),
    (bisect, _of_bisect),
    (statistics, _of_statistics),
)


def _replacement(value: Foreign, world: World) -> Foreign:
    """What stands in for a global; None for nothing."""
    if isinstance(value, types.ModuleType):
        return _standing(value, world)
    stats = sys.modules.get("scipy.stats")
    if stats is not None and value is getattr(stats, "wishart", None):
        return matrices.MatrixLaw(value, world)
    if _is_law(value):
        return _Inverse(value, world)
    if type(value) in PLAIN:
        return None
    if (source := world.sources.instead_of(value)) is not None:
        return source
    if called := name_of_secret(value):
        return _of_secrets(called, value, world)
    if isinstance(value, random.SystemRandom):
        if type(value) is not random.SystemRandom or vars(value).keys() - {"gauss_next"}:
            return Refused(world, OWN_CLASS)
        if why := world.sources.apart(value):
            return Refused(world, why)
        return FollowedRandom(world, random.Random(world.chooser.number))
    if compiles(value):
        return _compiled(value, world)
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or (isinstance(value, type) and value is not random.Random):
        return None
    owned = (find for module, find in _FINDERS if vars(module).get(name) is value)
    find = next(owned, None)
    return (
        None if find is None or (find is _of_numpy and not is_function(value)) else find(name, value, world)
    )


def _put(owner: Foreign, name: str, value: Foreign) -> None:
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)


_SOURCES = (np, np.random, random)


def _drawing_by_default(scope: Mapping[str, Foreign]) -> Iterator[Foreign]:
    """Functions of a module that draw from a module by default."""
    kinds = [vars(v) for v in scope.values() if inspect.isclass(v) and v.__module__ == scope.get("__name__")]
    for value in {id(v): v for names in (scope, *kinds) for v in names.values()}.values():
        given = value.__defaults__ if inspect.isfunction(value) else None
        if given and any(v is source for v in given for source in _SOURCES):
            yield value


def _defaults(function: Foreign, world: World) -> tuple[Foreign, ...]:
    """The defaults of a function, with stand-ins for modules."""
    known = [_standing(v, world) for v in function.__defaults__]
    return tuple(v if k is None else k for v, k in zip(function.__defaults__, known, strict=True))


def _replacements(scope: Mapping[str, Foreign], world: World) -> Iterator[tuple[str, Foreign]]:
    """Names of globals that something stands in for, and that."""
    for name, value in list(scope.items()):
        own = isinstance(value, types.FunctionType) and value.__globals__ is scope
        other = None if own or name.startswith("__") else _replacement(value, world)
        if other is not None:
            yield name, other


@contextmanager
def standing_in(scopes: Mapping[str, dict[str, Foreign]], world: World) -> Iterator[None]:
    """Put stand-ins into the globals of the user's code for a while."""
    changed: list[tuple[Foreign, str, Foreign]] = []
    world.python = FollowedRandom(world, random.Random(PYTHON_SEED))
    world.sources = Sources(world.chooser.number, world, apart=getattr(scopes, "apart", frozenset()))
    extra = {
        "max": _extreme(builtins.max, 1, world),
        "min": _extreme(builtins.min, -1, world),
        "sum": _sum(world),
        "sorted": _sorted(world),
        **NUMBERS,
        "math": _standing(math, world),  # see `cases`
    }
    missing = object()
    world.extra = {getattr(builtins, name): other for name, other in extra.items() if hasattr(builtins, name)}
    world.instead = functools.partial(_replacement, world=world)
    world.fixed = functools.partial(answers.fixed, world)
    distinct = globals_of(scopes)
    asked = [found for scope in distinct for found in answers.answers_of(scope)]
    functions = [function for scope in distinct for function in _drawing_by_default(scope)]
    usual = [(f, f.__defaults__, _defaults(f, world)) for f in functions]
    drawing = [found for scope in distinct for found in samplers.samplers_of(scope)]
    try:
        for function, _, other in usual:
            function.__defaults__ = other
        for owner, name, function in asked:
            _put(owner, name, answers.answering(world, function))
        for owner, name, function in drawing:
            now = owner[name] if isinstance(owner, dict) else vars(owner)[name]
            _put(owner, name, samplers.drawing(world, function, now))
        for scope in distinct:
            for name, other in _replacements(scope, world):
                changed.append((scope, name, scope[name]))
                scope[name] = other
            for name, other in extra.items():
                if name not in scope:
                    changed.append((scope, name, missing))
                    scope[name] = other
        with in_place(scopes, functools.partial(_replacement, world=world)):
            yield
    finally:
        for function, given, _ in usual:
            function.__defaults__ = given
        for owner, name, function in [*asked, *drawing]:
            _put(owner, name, function)
        for scope, name, value in changed:
            if value is missing:
                scope.pop(name, None)
            else:
                scope[name] = value
