"""Functions that draw noise by branches: coins until one falls, staircase and discrete noise.

Such code takes public numbers and a generator, and makes one number. It is read, not run: the law of what it
makes follows from its source, statement by statement, as weights of what its names can hold. What comes back
to the same values is added up, so that a loop that starts anew is summed in closed form. A uniform draw that
is compared with a number is a coin, and uniform below or above that number afterwards.

A function may take one raw number, too: then its answer is paid for at the largest ratio of its density.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic.answers import is_raw
from verifiable_dp.evidence.symbolic.atoms import Charge, SymbolicDraw, moves_of
from verifiable_dp.evidence.symbolic.pooled_noise import geometric
from verifiable_dp.evidence.symbolic.sampler_laws import (
    Basic,
    ReportSampler,
    SamplerLaw,
    Sum,
    UnreadError,
    Usual,
    law_of_leaves,
)
from verifiable_dp.evidence.symbolic.sampler_reader import GENERATORS, MISSING, READ, KeptObject, Reader, read
from verifiable_dp.evidence.symbolic.source import body_of
from verifiable_dp.evidence.symbolic.terms import Term, number
from verifiable_dp.evidence.symbolic.world import World

_LAWS: dict[
    Foreign,
    list[
        tuple[
            list[tuple[Foreign, str, Foreign]], SamplerLaw | Usual | ReportSampler | None, frozenset[Foreign]
        ]
    ],
] = {}
_MOST_LAWS = 256


def _law_of(
    key: Foreign, scope: Mapping[str, Foreign], read: Callable[[Reader], Foreign], owner: Foreign
) -> Foreign:
    """The law of what is made, None if it has no bound, and the code that was read."""
    for reads, law, codes in _LAWS.get(key, ()):
        if all(
            _same(scope.get(n, MISSING) if of is None else inspect.getattr_static(owner, n, MISSING), value)
            for of, n, value in reads
        ):
            return law, codes
    reader = Reader(scope)
    try:
        law = law_of_leaves(read(reader))
        costs = (
            [law.cost]
            if isinstance(law, ReportSampler)
            else map(law.price, (1.0, -1.0))
            if isinstance(law, SamplerLaw)
            else [0.0]
        )
        law = law if min(costs) < math.inf else None
    except (UnreadError, ArithmeticError, TypeError, ValueError, KeyError, RecursionError):
        law = None
    if len(_LAWS) >= _MOST_LAWS:
        _LAWS.clear()
    if all(of is None or of is owner for of, _, _ in reader.reads):
        known = _LAWS.setdefault(key, [])
        known[:] = [*known[-8:], (reader.reads, law, frozenset(reader.codes))]
    return law, frozenset(reader.codes)


def _same(now: Foreign, value: Foreign) -> bool:
    """Whether a name still holds what it held."""
    if issubclass(type(now), GENERATORS) or inspect.isfunction(now):
        return type(now) is type(value)
    return now is value or (type(now) is type(value) and type(now) in READ and now == value)


def _made(
    world: World,
    law: SamplerLaw | Usual | ReportSampler,
    codes: frozenset[Foreign],
    draw: Callable[[], Foreign],
) -> Foreign:
    """Noise of a law, as the code draws it."""
    for code in codes:
        world.note(code, tried=True)
        world.drawn.add((code, None))
    with _bare(world):
        value = float(draw())
    if isinstance(law, ReportSampler):
        return value
    if isinstance(law, Usual):
        drawn = SymbolicDraw(law.kind, (value - law.center) / law.scale)
        return Term(world, law.center, {}, {drawn: law.scale})
    made = SymbolicDraw("geometric", value, law.step) if law.step else SymbolicDraw("law", value, of=law)
    return geometric(world, made) if law.step else Term(world, 0.0, {}, {made: 1.0}, law.whole)


@contextmanager
def _bare(world: World) -> Iterator[None]:
    """Let the generators give plain numbers."""
    world.bare = True
    try:
        yield
    finally:
        world.bare = False


def drawing(world: World, function: Function[Foreign], otherwise: Function[Foreign]) -> Function[Foreign]:
    """The function, whose draw is noise of a known law if it is one; else `otherwise`."""

    @functools.wraps(function)
    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        own = len(args) + len(kwargs) <= len(names) and {*names[len(args) : len(args) + len(kwargs)]} == {
            *kwargs
        }
        values = [*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs)] if own else []
        known = _known(world, values, raw=True) if own else None
        if known is None:
            return otherwise(*args, **kwargs)
        key, given, owner = known
        read = functools.partial(Reader.call, function=function, args=given)
        law, codes = _law_of((function.__code__, key), function.__globals__, read, owner)
        if law is None:
            return otherwise(*args, **kwargs)
        public = {name for name, value in zip(names, values, strict=False) if not is_raw(number(value))}
        world.drawn.add((function.__code__, frozenset(public)))
        plain = [v.value() if type(v) is Term else v for v in values]
        made = _made(world, law, codes, lambda: function(*plain))
        if isinstance(law, ReportSampler):
            units = {unit for v in values if type(v) is Term for unit in moves_of(v.raw)}
            world.charge(Charge(world.place(), dict.fromkeys(units, (law.cost, law.cost))))
        return made

    return call


def _known(
    world: World, values: Foreign, *, raw: bool = False
) -> tuple[Foreign, list[Foreign], Foreign] | None:
    """What public numbers, generators and one object are, and that object; None if there is anything else.

    One of the numbers may be raw, if that is said.
    """
    if world.oracle is not None or world.bare:
        return None
    ends = [value.range() for value in map(number, values) if is_raw(value) and type(value) is Term]
    if len(ends) > raw or not all(map(math.isfinite, itertools.chain(*ends))):
        return None
    try:
        given = [
            Sum(0.0, {Basic(raw=ends[0]): 1.0}) if ends and type(number(value)) is Term else read(value)
            for value in values
        ]
    except UnreadError:
        return None
    owners = [value.value for value in given if type(value) is KeptObject]
    key = tuple(
        type(v.value) if type(v) is KeptObject else ends[0] if type(v) is Sum else (type(v), v) for v in given
    )
    return (key, given, owners[0] if owners else None) if len(owners) <= 1 else None


@functools.lru_cache(maxsize=1 << 12)
def draws_noise(code: Foreign) -> bool:
    """Whether a function may be one that draws noise by branches."""
    function = body_of(code)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or code.co_freevars:
        return False
    kinds = (ast.If, ast.IfExp, ast.While, ast.For)
    barred = (ast.ListComp, ast.Yield, ast.YieldFrom, ast.Subscript)
    nodes = list(ast.walk(function))
    return any(isinstance(n, kinds) for n in nodes) and not any(isinstance(n, barred) for n in nodes)


def samplers_of(scope: Mapping[str, Foreign]) -> Iterator[tuple[Foreign, str, Function[Foreign]]]:
    """Functions of a module and methods of its classes that may draw noise: owner, name, function."""
    for name, value in list(scope.items()):
        if getattr(value, "__module__", None) != scope.get("__name__"):
            continue
        if inspect.isfunction(value) and draws_noise(value.__code__):
            yield scope, name, value
        elif inspect.isclass(value):
            for method, function in list(vars(value).items()):
                if inspect.isfunction(function) and draws_noise(function.__code__):
                    yield value, method, function
