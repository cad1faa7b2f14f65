"""What NumPy's functions make of arrays: one row a function."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic import (
    adding,
    answers,
    comparing,
    elementary,
    matrices,
    multiplying,
    term_operators,
    users,
)
from verifiable_dp.evidence.symbolic.boxes import (
    DECIDES,
    Box,
    as_objects,
    decided,
    entries,
    filled,
    objects,
    of_coins,
    of_first_type,
    plain,
    wrapped,
)
from verifiable_dp.evidence.symbolic.elementwise import (
    both_of,
    choose,
    either_of,
    hidden,
    ordinary,
    truth_of,
)
from verifiable_dp.evidence.symbolic.terms import is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World


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
        return Box.of(world, filled((1,) * box.ndim, found)) if keepdims else found
    axis = operator.index(axis) % max(box.ndim, 1)
    rows = np.moveaxis(as_objects(world, box), axis, -1)
    flat = rows.reshape(-1, rows.shape[-1]) if rows.size else rows.reshape(int(np.prod(rows.shape[:-1])), -1)
    made = objects([of(row.tolist()) for row in flat], rows.shape[:-1])
    if keepdims:
        made = np.expand_dims(made, axis)
    return Box.of(world, made) if made.ndim else made[()]


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
        where = where if type(where) is Box and of_coins(where) else decided(world, where)
        a = where_chosen(world, where, a, 0.0)
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
        return answers.Position(world, natural, raw, DECIDES)
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
        if nature(v) == "uniform" and not hidden(x) and not hidden(y):
            for side in (1, 2):
                v.source.shape(side)
            return v.through(lambda u: np.clip(u, float(x), float(y)))
        if is_term(v):
            for side in (1, 2):
                term_operators.weighed(v, side)
        return elementary.limited(ordinary(v), x, y)

    found = np.frompyfunc(limited, 3, 1)(*arrays)
    return Box.of(world, found) if type(found) is np.ndarray else found


def where_chosen(world: World, condition: Foreign, *sides: Foreign) -> Foreign:
    """As `np.where`."""
    if not sides:
        return tuple(wrapped(world, i) for i in np.nonzero(decided(world, condition)))
    arrays = [as_objects(world, x) for x in (condition, *sides)]
    found = np.frompyfunc(choose, 3, 1)(*arrays)
    return Box.of(world, found) if type(found) is np.ndarray else found


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
    values = [adding.quiet(ordinary(v)) for v in values]
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
    if not alike or any(map(hidden, entries(world, v))):
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
    return world.arrays.calling(
        world, np.searchsorted, (decided(world, a), decided(world, v), side, sorter), {}
    )


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
            bit = both_of(
                comparing.above(value, low, strict=False), comparing.above(high, value, strict=not last)
            )
            count.append(comparing.exclusive(bit, cell))
    return [adding.total(count) for count in counts]


def _select(world: World, condlist: Foreign, choicelist: Foreign, default: Foreign = 0) -> Foreign:
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = where_chosen(world, condition, choice, found)
    return found


def _applied(
    world: World, func1d: Foreign, axis: Foreign, arr: Foreign, *args: Foreign, **kwargs: Foreign
) -> Foreign:
    rows = np.moveaxis(as_objects(world, arr), axis, -1)
    made = [func1d(Box.of(world, row), *args, **kwargs) for row in rows.reshape(-1, rows.shape[-1])]
    if any(np.ndim(one) for one in made):
        raise world.stop_raw("np.apply_along_axis returns arrays for raw {data}")
    return of_first_type(world, made).reshape(rows.shape[:-1])


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


def _kept(world: World, m: Foreign, part: Foreign, k: int) -> Foreign:
    """A triangle of an array, 0 elsewhere."""
    box = wrapped(world, m)
    return Box.of(world, np.where(part(np.ones(box.shape, bool), k), as_objects(world, box), 0.0))


def _rounded(world: World, a: Foreign, decimals: int) -> Foreign:
    if decimals:
        return np.round(plain(world, a, "raw {data} are rounded to a number of digits"), decimals)
    return world.arrays.on_arrays(world, np.rint, "__call__", (a,), None, {})


FUNCTIONS: dict[Foreign, Function[Foreign]] = {
    np.sum: _sum,
    np.nansum: _rows(lambda row: adding.total(_there(row))),
    np.count_nonzero: _rows(lambda row: adding.total(map(truth_of, row))),
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
    np.where: where_chosen,
    **dict.fromkeys((np.dot, np.inner, np.vdot, np.matmul), _dot),
    np.sort: _sorted,
    np.median: _rows(_middle),
    np.searchsorted: _searchsorted,
    np.digitize: lambda world, x, bins, right=False: _searchsorted(world, bins, x),
    np.prod: _rows(lambda row: functools.reduce(multiplying.multiply, row)),
    np.all: _rows(lambda row: functools.reduce(both_of, row, True)),
    np.any: _rows(lambda row: functools.reduce(either_of, row, False)),
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
