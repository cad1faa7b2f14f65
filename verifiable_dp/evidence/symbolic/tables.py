"""Tables that raw chances build, such as an alias table, and samplers that look into them.

Which column of an alias table has which alias is decided by raw numbers, but the table is built so that this
does not show: whatever its columns are, the sampler's outcomes have the chances it was built from. That is
looked at, not believed: a builder without effects is run once for every way in which its comparisons of raw
numbers can come out together, and the sampler with every column and coin of each such table. The bound goes
on with a chance if it is the outcome's in all of them, and ends otherwise.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic import terms
from verifiable_dp.evidence.symbolic.answers import (
    MODULES,
    PURE,
    Oracle,
    answering,
    answers_of,
    asking,
    is_answer,
)
from verifiable_dp.evidence.symbolic.boxes import Box
from verifiable_dp.evidence.symbolic.draws import FollowedGenerator
from verifiable_dp.evidence.symbolic.randoms import FollowedRandom
from verifiable_dp.evidence.symbolic.source import body_of
from verifiable_dp.evidence.symbolic.terms import Atom, Ends, Term, Unbounded, World, is_term, subtract

_TINY = 1e-9
_MOST_TABLES, _MOST_CHOICES, _MOST_LAWS = 256, 60, 64
_BUILTINS = PURE | {"zip", "any", "all", "reversed", "AssertionError", "RuntimeError", "ValueError"}
_OF_MODULES = frozenset(
    ("ones", "zeros", "empty", "full", "arange", "array", "asarray", "sum", "where", "flatnonzero", "nonzero")
)
_METHODS = frozenset(("pop", "append", "extend", "insert", "remove", "copy", "sum", "tolist", "astype"))
_GENERATORS = (FollowedGenerator, FollowedRandom)
_BARRED = (
    *(ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.With, ast.Try, ast.Delete, ast.Lambda),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.ClassDef, ast.AsyncFunctionDef, ast.Starred),
)


# ---------------------------------------------------------------- what raw numbers may be


@dataclass
class TableRegion:
    """Where raw numbers lie if comparisons of them came out in some way: linear forms that are not negative.

    Attributes
    ----------
    sums
        Forms that are 0.
    limits
        Forms that are at least 0, each with whether it is above 0.
    """

    sums: Sequence[Term] = ()
    limits: tuple[tuple[Term, bool], ...] = ()

    def _solved(self, aim: Mapping[Any, float], limits: Sequence[tuple[Term, bool]]) -> float | None:
        """The largest value of a form; None if there is no such place. ``margin`` is what all exceed 0 by."""
        from scipy.optimize import linprog

        forms = [*self.sums, *(limit for limit, _ in limits)]
        atoms: list[Any] = [*{a: 0 for form in forms for a in form.raw} | dict.fromkeys(aim, 0), "margin"]
        atoms = [*dict.fromkeys(atoms)]
        place = {atom: i for i, atom in enumerate(atoms)}

        def row(raw: Mapping[Any, float], margin: float = 0.0) -> Any:
            made = np.zeros(len(atoms))
            for atom, weight in raw.items():
                made[place[atom]] += weight
            made[place["margin"]] += margin
            return made

        above = [-row(limit.raw, -1.0 if strict else 0.0) for limit, strict in limits]
        found = linprog(
            -row(aim),
            A_ub=np.array(above) if above else None,
            b_ub=[limit.const for limit, _ in limits] if above else None,
            A_eq=np.array([row(form.raw) for form in self.sums]) if self.sums else None,
            b_eq=[-form.const for form in self.sums] if self.sums else None,
            bounds=[(0, 1) if a == "margin" else (a.low, a.high) for a in atoms],
            method="highs",
        )
        return -float(found.fun) if found.status == 0 else math.inf if found.status == 3 else None

    def allows(self, form: Term, strict: bool) -> bool:
        """Whether a form can be above 0, or at least 0, too."""
        limits = (*self.limits, (form, strict))
        most = self._solved({"margin": 1.0}, limits)
        return most is not None and bool(most > _TINY or not any(above for _, above in limits))

    def with_limit(self, form: Term, strict: bool) -> TableRegion:
        """Where it is, too."""
        return TableRegion(self.sums, (*self.limits, (form, strict)))

    def within(self, form: Any, low: float, high: float) -> bool:
        """Whether a form lies between two numbers."""
        if not is_term(form):
            return low - _TINY <= float(form) <= high + _TINY
        raw = {atom: weight for atom, weight in form.raw.items() if abs(weight) > 1e-12}
        closed = [(limit, False) for limit, _ in self.limits]
        most = self._solved(raw, closed)
        least = self._solved({atom: -weight for atom, weight in raw.items()}, closed)
        if most is None or least is None:
            return False
        return bool(form.const + most <= high + _TINY and form.const - least >= low - _TINY)


# ---------------------------------------------------------------- functions without effects


@functools.lru_cache(maxsize=1 << 12)
def is_builder(code: Any) -> bool:
    """Whether a function changes nothing but what it makes and its arguments; `__init__`, its object."""
    return without_effects(code, harmless)


def without_effects(code: Any, allowed: Callable[[ast.Call], bool]) -> bool:
    """Whether a function changes nothing but what it makes and its arguments; `allowed` says so of calls."""
    function = body_of(code)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or code.co_freevars:
        return False
    usual = [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]
    if not all(isinstance(d, ast.Constant) or _root(d) <= MODULES for d in usual):
        return False  # a list would remember earlier calls
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    own |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if own & (_BUILTINS | MODULES):
        return False
    me = function.args.args[0].arg if function.name == "__init__" and function.args.args else ""
    for node in ast.walk(function):
        if isinstance(node, _BARRED) or (isinstance(node, ast.FunctionDef) and node is not function):
            return False
        stored = isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if stored and not _root(node) <= ({me} if isinstance(node, ast.Attribute) else own):
            return False
        if isinstance(node, ast.Call) and not allowed(node):
            return False
    return True


def _root(node: Any) -> set[str]:
    """The name of what an entry or an attribute is set of."""
    whole = isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name)
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) and not whole else {" "}


def harmless(call: ast.Call) -> bool:
    """Whether a call makes something new, or changes a list at most."""
    if any(word.arg in (None, "out") for word in call.keywords):
        return False
    made = call.func
    if isinstance(made, ast.Name):
        return made.id in _BUILTINS
    if not isinstance(made, ast.Attribute):
        return False
    if isinstance(made.value, ast.Name) and made.value.id in MODULES:
        return made.attr in _OF_MODULES
    return made.attr in _METHODS


def settings(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """The numbers of its module that a function uses; None if it uses anything else of it."""
    found, known = [], function.__globals__
    used = {step.argval for step in dis.get_instructions(function.__code__) if step.opname == "LOAD_GLOBAL"}
    for name in sorted(used & {*known} - _BUILTINS - MODULES):
        if name.startswith(terms.PREFIX):
            continue
        if type(known[name]) not in (int, float, bool):
            return None
        found.append((name, known[name]))
    return tuple(found)


def _copied(value: Any) -> Any:
    """The same in containers of its own; `TypeError` of what is not understood."""
    kind = type(value)
    if kind in (list, tuple):
        return kind(_copied(v) for v in value)
    if kind is Term or kind in (int, float, bool, str, type(None)) or issubclass(kind, np.generic):
        return value
    if kind is Box:
        return value.copy()
    if issubclass(kind, _GENERATORS):
        return value
    raise TypeError(kind)


def flat(value: Any) -> list[Any]:
    """The numbers in a value, in order."""
    if type(value) is dict:
        value = list(value.values())
    if type(value) in (list, tuple):
        return [number for part in value for number in flat(part)]
    return value.held.ravel().tolist() if type(value) is Box else [value]


def _is_number(value: Any) -> bool:
    return is_term(value) or isinstance(value, int | float | np.number)


def _same(value: Any, other: Any) -> bool:
    """Whether two containers hold the same numbers."""
    values, others = flat(list(value)), flat(list(other))
    return len(values) == len(others) and all(
        a is b or (not is_term(a) and not is_term(b) and a == b) for a, b in zip(values, others, strict=True)
    )


# ---------------------------------------------------------------- tables


class _Building(Oracle):
    """Says how comparisons of raw numbers come out while a table is built.

    Parameters
    ----------
    region
        Where the raw numbers lie.
    ways
        How the first comparisons come out, each with the number of ways there are.
    natural
        Whether to follow the data instead.
    """

    follows = True

    def __init__(self, region: TableRegion, ways: tuple[tuple[int, int], ...] = (), *, natural: bool = False):
        super().__init__(natural=natural)
        self.region, self._ways = region, ways

    def choose(self, chances: list[Any], natural: int) -> int:
        """See `Oracle.choose`: nothing is drawn."""
        raise Unbounded("a table is built with draws")

    def raw(self, world: World, values: range, natural: int, units: Any) -> int:
        """See `Oracle.raw`: comparisons alone are followed."""
        raise Unbounded("a table is built in a way that is not followed")

    def compare(self, lead: Term, *, strict: bool) -> bool:
        """Whether a form is above 0, or at least 0."""
        if self.natural:
            return lead.value() > 0 if strict else lead.value() >= 0
        forms = [(lead, strict), (terms.multiply(lead, -1.0), not strict)]
        known = len(self.made)
        if known >= _MOST_CHOICES:
            raise Unbounded("a table is built with too many comparisons")
        if known < len(self._ways):
            at, size = self._ways[known]
        else:
            can = [i for i in (0, 1) if self.region.allows(*forms[i])]
            if not can:
                raise Unbounded("raw numbers lie nowhere")
            at, size = can[0], can[-1] + 1
        self.made.append((at, size, None))
        self.region = self.region.with_limit(*forms[at])
        return at == 0

    def others(self) -> tuple[tuple[int, int], ...] | None:
        """The ways of the next table; None after the last."""
        made = [(at, size) for at, size, _ in self.made]
        while made:
            at, size = made.pop()
            if at + 1 < size:
                return (*made, (at + 1, size))
        return None


class _Looking(Oracle):
    """Says how columns and coins come out while a sampler looks into a table."""

    region = TableRegion()

    def raw(self, world: World, values: range, natural: int, units: Any) -> int:
        """See `Oracle.raw`: a sampler compares no raw numbers."""
        raise Unbounded("raw {data} decide something in a sampler", why=Ends.DATA)

    def fits(self, chance: Term) -> bool:
        """See `Oracle.fits`."""
        return self.natural or self.region.within(chance, 0.0, 1.0)


def _not_followed(self: Any, *args: Any, **kwargs: Any) -> Any:
    world = self.world
    raise world.stop_raw("a table that raw {data} build is used outside of a sampler", self.place)


class Opaque:
    """Something that only a sampler may look into."""

    world: World
    place: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _not_followed(self)


for _name in (
    *("bool", "len", "float", "int", "index", "eq", "ne", "lt", "gt", "le", "ge", "contains", "call"),
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "array", "format", "repr", "str"),
    *("setitem", "hash", "copy", "deepcopy", "reduce_ex", "and", "or", "neg"),
):
    setattr(Opaque, f"__{_name}__", _not_followed)


@dataclass(eq=False, repr=False)
class AliasTable(Opaque):
    """What a builder makes of raw numbers that decide something in it.

    Attributes
    ----------
    world, place
        The run, and the line.
    builder, given, kind
        The call that makes it, and the class of an object that it makes.
    """

    world: World
    place: Any
    builder: Callable[..., Any]
    given: tuple[Any, ...]
    kind: Any = None

    def __iter__(self) -> Iterator[Any]:
        found = self.made(_Building(TableRegion(), natural=True))
        return iter([_Part(self.world, self.place, self, i) for i in range(len(found))])

    def __getitem__(self, key: Any) -> Any:
        return list(self)[key] if type(key) is int else _not_followed(self)

    def made(self, oracle: Oracle) -> Any:
        """The table, as an oracle wants it."""
        given = _copied(self.given)
        with asking(self.world, oracle):
            if self.kind is None:
                found = self.builder(*given)
            else:
                found = object.__new__(self.kind)
                self.builder(found, *given)
        if not _same(given, self.given):
            raise self.world.stop("a table's builder changes what it was given", self.place)
        return found

    def _wholes(self) -> list[Any]:
        """For every argument that it was given, the sum if that is 1; else None."""
        wholes = [terms.total(v for v in flat(part) if _is_number(v)) for part in self.given]
        return [w if is_term(w) and w.ratio is not None and w.ratio.is_one else None for w in wholes]

    def region(self) -> TableRegion:
        """Where the raw numbers lie: chances add up to 1."""
        return TableRegion([subtract(whole, 1.0) for whole in self._wholes() if whole is not None])

    def every(self) -> list[tuple[Any, TableRegion]]:
        """All tables there can be, each with where the raw numbers then lie."""
        found: list[tuple[Any, TableRegion]] = []
        ways: tuple[tuple[int, int], ...] | None = ()
        while ways is not None:
            if len(found) >= _MOST_TABLES:
                raise Unbounded("a table can be built in too many ways")
            oracle = _Building(self.region(), ways)
            found.append((self.made(oracle), oracle.region))
            ways = oracle.others()
        return found

    def form(self) -> Any:
        """What the chances of a sampler follow from: the same for raw numbers under other names."""
        places: dict[Atom, int] = {}
        for value in flat(self.given):
            for atom in value.raw if is_term(value) else ():
                places.setdefault(atom, len(places))
        numbers = [
            (value.const, tuple((places[a], w) for a, w in value.raw.items()))
            if is_term(value)
            else terms.number(value)
            for value in flat(self.given)
        ]
        shapes = [(type(part).__name__, len(flat(part))) for part in self.given]
        ends = [(atom.low, atom.high) for atom in places]
        return (
            *map(repr, (numbers, shapes, ends, [w is None for w in self._wholes()])),
            self.builder,
            self.kind,
        )


@dataclass(eq=False, repr=False)
class _Part(Opaque):
    """One of the things that a builder returns."""

    world: World
    place: Any
    table: AliasTable
    at: int


def _table_of(value: Any) -> AliasTable | None:
    """The table that a value is, or is a part of."""
    if type(value) is _Part:
        return value.table
    if type(value) is AliasTable:
        return value
    found = getattr(value, "__dict__", {}).get(_KEPT)
    return found if type(found) is AliasTable else None


_KEPT = "_built_by_data"


def _is_plain_class(kind: type) -> bool:
    """Whether attributes of its objects are what was put there."""
    values = [value for base in kind.__mro__[:-1] for value in vars(base).items()]
    barred = ("__getattr__", "__getattribute__", "__setattr__", "__slots__", "__new__")
    return all(
        name not in barred and (name[:2] == "__" or inspect.isfunction(value) or type(value) in _SIMPLE)
        for name, value in values
    )


def building(world: World, function: Callable[..., Any]) -> Callable[..., Any]:
    """The builder, which makes a table where raw numbers decide something in it."""
    of_object = function.__name__ == "__init__"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = args[1:] if of_object else args
        raw = [v for v in flat(list(given)) if is_term(v)]
        if world.oracle is not None or kwargs or not raw or any(v.noise for v in raw):
            world.note(function.__code__, tried=False)
            return function(*args, **kwargs)
        before = world.failure, world.at, len(world.seen), len(world.charges), len(world.finishing)
        try:
            kept = _copied(given)
            found = function(*args)
            world.note(function.__code__, tried=False)
            return found
        except Unbounded:
            after = len(world.seen), len(world.charges), len(world.finishing)
            if (
                after != before[2:]
                or not _same(kept, given)
                or (of_object and not _is_plain_class(type(args[0])))
            ):
                raise
        except TypeError:
            if world.failure:
                raise
            world.note(function.__code__, tried=False)
            return function(*args)
        # What public numbers decide is not tried: there may be others on another path.
        world.note(function.__code__, tried=all(is_term(v) for v in flat(list(given))))
        made = AliasTable(world, world.at, function, given, type(args[0]) if of_object else None)
        world.failure, world.at = before[:2]
        if not of_object:
            return made
        vars(args[0]).clear()
        vars(args[0])[_KEPT] = made
        return None

    return call


# ---------------------------------------------------------------- samplers


_LAWS: dict[Any, dict[Any, int] | None] = {}  # none depends on what the raw numbers are
_SIMPLE = (int, float, bool, str, type(None))


def sampling(world: World, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which pays for what it draws from a table, or for what it answers."""
    other = answering(world, function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if world.oracle is None and any(_table_of(a) is not None for a in (*args, *kwargs.values())):
            world.note(function.__code__, tried=not any(type(a) in _SIMPLE for a in args))
            return _drawn(world, function, args, kwargs)
        world.note(function.__code__, tried=False)
        return other(*args, **kwargs)

    return call


def _drawn(world: World, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """What a sampler draws from a table, paid for by its chance."""
    table, *rest = {id(t): t for t in map(_table_of, args) if t is not None}.values()
    used = settings(function), settings(table.builder)
    if rest or kwargs or None in used or not all(map(_is_plain_argument, args)):
        raise world.stop("a sampler looks into a table in a way that is not followed")
    ask = functools.partial(_answer, world, function, args, world.states())
    named = [a.at if type(a) is _Part else a if type(a) in _SIMPLE else type(a).__name__ for a in args]
    key = table.form(), function, used, repr(named)
    before = len(world.seen), len(world.charges), len(world.finishing)
    if key not in _LAWS:
        if len(_LAWS) >= _MOST_LAWS:
            _LAWS.clear()
        _LAWS[key] = _law(table, ask)
    law = _LAWS[key]
    natural = ask(table.made(_Building(TableRegion(), natural=True)), _Looking(natural=True))
    if (
        law is None
        or natural not in law
        or (len(world.seen), len(world.charges), len(world.finishing)) != before
    ):
        raise world.stop(
            "outcomes have other chances than those that their table was built from", table.place
        )
    possible = list(law)
    answer = possible[world.chooser.winner(possible.index(natural), range(len(possible)))]
    terms.outcome(world, flat(table.given)[law[answer]])
    return natural if answer == natural else answer


def is_plain(value: Any) -> bool:
    """Whether a value is a generator, or numbers and names: looking at it changes nothing."""
    kinds = (Term, *_SIMPLE)
    return issubclass(type(value), _GENERATORS) or all(
        type(v) in kinds or issubclass(type(v), np.generic) for v in flat(value)
    )


def _is_plain_argument(value: Any) -> bool:
    if isinstance(getattr(value, "__dict__", {}).get(_KEPT), AliasTable):
        return {*vars(value)} == {_KEPT}  # nothing was put into it since
    kind = type(value)
    return kind in (AliasTable, _Part, *_SIMPLE) or issubclass(kind, _GENERATORS)


def _answer(
    world: World, function: Callable[..., Any], args: Any, state: Any, made: Any, oracle: _Looking
) -> Any:
    """What a sampler draws from one table, as an oracle wants it."""
    world.restore(state)
    given = [made[a.at] if type(a) is _Part else made if _table_of(a) is not None else a for a in args]
    with asking(world, oracle):
        found = function(*given)
        found = found.plain() if terms.nature(found) == "coin" else found
    if is_term(found) or not isinstance(found, int | np.integer):
        raise world.stop("a sampler draws something else than a whole number")
    return int(found)


def _law(table: AliasTable, ask: Callable[[Any, _Looking], Any]) -> dict[Any, int] | None:
    """For every outcome which raw number is its chance, whatever the table is; None if one has none."""
    laws = []
    for made, region in table.every():
        known: dict[Any, Any] = {}
        script: tuple[int, ...] | None = ()
        while script is not None:
            oracle = _Looking(script)
            oracle.region = region
            answer = ask(made, oracle)
            weight = functools.reduce(terms.multiply, [chance for _, _, chance in oracle.made], 1.0)
            known[answer] = terms.add(known.get(answer, 0.0), weight)
            script = oracle.following()
        laws.append((known, region))
    numbers = flat(table.given)
    found = {}
    for answer in dict.fromkeys(answer for known, _ in laws for answer in known):
        fits = (
            i
            for i, number in enumerate(numbers)
            if is_term(number)
            and all(r.within(subtract(known.get(answer, 0.0), number), 0.0, 0.0) for known, r in laws)
        )
        found[answer] = next(fits, None)
    return None if None in found.values() else {answer: i for answer, i in found.items() if i is not None}


def tables_of(scope: Mapping[str, Any]) -> Iterator[tuple[Any, str, Callable[..., Any], Any]]:
    """Functions of a module that may build or look into tables: owner, name, function, and its stand-in."""
    for owner, name, function in answers_of(scope):
        yield owner, name, function, sampling
    for name, value in list(scope.items()):
        if inspect.isfunction(value) and value.__module__ == scope.get("__name__"):
            if is_builder(value.__code__) and not is_answer(value):
                yield scope, name, value, building
        elif inspect.isclass(value) and value.__module__ == scope.get("__name__"):
            made = vars(value).get("__init__")
            if inspect.isfunction(made) and is_builder(made.__code__):
                yield value, "__init__", made, building
