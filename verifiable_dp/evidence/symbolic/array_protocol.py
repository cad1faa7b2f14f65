"""What NumPy asks of arrays and terms: its universal functions, and its other ones.

A function of public numbers is NumPy's own. A function of terms is one of `array_functions`; any other shows
what has noise, and ends the bound if raw rewards are among its arguments.
"""

from __future__ import annotations

import functools
import inspect
import operator

import numpy as np

from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic.array_functions import FUNCTIONS
from verifiable_dp.evidence.symbolic.box_memory import given_back
from verifiable_dp.evidence.symbolic.boxes import (
    Box,
    as_objects,
    entries,
    fitting,
    has_own,
    has_terms,
    kind_of,
    objects,
    plain,
    readable,
    type_of,
    wrapped,
)
from verifiable_dp.evidence.symbolic.elementwise import (
    ELEMENTWISE,
    NO_BOUND,
    TRUTHS,
    hidden,
    ordinary,
)
from verifiable_dp.evidence.symbolic.terms import is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World

_REDUCING = {
    np.add: np.sum,
    np.maximum: np.max,
    np.minimum: np.min,
    np.multiply: np.prod,
    np.logical_and: np.all,
    np.logical_or: np.any,
}


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
        return functools.reduce(ELEMENTWISE[ufunc], entries(world, inputs[0]))
    if method == "accumulate" and ufunc is np.add:
        return calling(world, np.cumsum, inputs, {k: v for k, v in kwargs.items() if v is not None})
    if method == "at":
        return _at(world, ufunc, inputs)
    if ufunc is np.matmul and method == "__call__" and target is None and not kwargs:
        return calling(world, ufunc, inputs, {})
    scalar = ELEMENTWISE.get(ufunc)
    if not any(has_terms(x) for x in inputs) or method != "__call__" or scalar is None:
        values = [
            readable(world, x, f"we cannot bound how much np.{ufunc.__name__} of raw {{data}} changes")
            for x in inputs
        ]
        given = {k: plain(world, v, NO_BOUND) for k, v in kwargs.items()}
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
            return scalar(*values) if any(map(hidden, values)) else ufunc(*values)

        found = np.frompyfunc(entry, len(arrays), 1)(*arrays)
        made = Box.of(world, found) if type(found) is np.ndarray and found.ndim else found
        if ufunc in TRUTHS and type(made) is Box:
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
        made.narrow = fitting(world, made, dtype)


def _typed_as(value: Foreign) -> Foreign:
    """The type of an array, or of a plain number as `resolve_dtypes` takes it; None of anything else."""
    if type(value) in (int, float):
        return type(value)
    if is_term(value):  # which may be Python's own, and then takes the other's type
        return int if value.whole else float
    return value.dtype if type(value) in (Box, np.ndarray) or isinstance(value, np.generic) else None


def _written(world: World, made: Foreign, target: Foreign) -> Foreign:
    """An array with what was made written into it."""
    if type(target) is not Box:
        raise world.stop("data or noise are written into a plain array, where we cannot follow them")
    target[...] = made
    return target


def _at(world: World, ufunc: Foreign, inputs: Foreign) -> None:
    target, index, *rest = inputs
    if type(target) is not Box or ufunc not in (np.add, np.subtract) or target.ndim != 1:
        raise world.stop_raw(f"we cannot bound how much np.{ufunc.__name__}.at of raw {{data}} changes")
    places = np.ravel(plain(world, index, "raw {data} are used as an index"))
    values = np.broadcast_to(as_objects(world, rest[0]), places.shape).tolist()
    for i, value in zip(places.tolist(), values, strict=True):
        target[i] = (operator.add if ufunc is np.add else operator.sub)(target[i], value)


# ---------------------------------------------------------------- functions of arrays


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
    own = FUNCTIONS.get(function)
    if hidden and own is not None:
        return _own(world, function, own, args, kwargs)
    if hidden and function in _MOVES:
        return _moved(world, function, args, kwargs)
    if hidden and function in _BY_OPERATORS and not kwargs.get("out"):
        return _by_operators(world, function, args, kwargs)
    what = f"we cannot bound how much np.{getattr(function, '__name__', function)} of raw {{data}} changes"
    out = kwargs.pop("out", None)
    values = [readable(world, v, what) for v in args]
    if function in _FILLING and not (type(args[0]) is Box and args[0].known is not None):
        raise world.stop("an array is filled in place in a way that we cannot follow")
    named = {key: readable(world, v, what) for key, v in kwargs.items()}
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
        wanted = np.dtype(type_of(dtype))
        kind = made.kind if type(made) is Box else kind_of(made)
        if wanted.itemsize < 8 or not (wanted.kind == "f" or (wanted.kind == "i" and kind != "f")):
            raise world.stop_raw(f"np.{function.__name__} of raw {{data}} is computed in type {wanted}")
    return made if out is None else _written(world, made, out)


def _like(world: World, function: Foreign, args: Foreign, kwargs: Foreign) -> Foreign:
    first = args[0]
    if function in (np.shape, np.ndim, np.size):
        return function(first.data if type(first) is Box else np.zeros(()), *args[1:], **kwargs)
    kwargs = {key: type_of(value) if key == "dtype" else value for key, value in kwargs.items()}
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
        if hidden(value):
            return as_objects(world, value)
        return value

    plainly = [inside(v) for v in args]
    found = function(*plainly, **{key: inside(v) for key, v in kwargs.items()})
    given = [(v, inside) for v, inside in zip(args, plainly, strict=True) if type(v) is Box]
    return given_back(
        found, given, lambda one: Box.of(world, one) if type(one) is np.ndarray else number(one)
    )
