"""Functions that answer a question about raw data by coins, as randomised response does.

Such a function has no effect but its answer and draws nothing but coins and whole numbers. All that can
happen in it is tried: the raw numbers that decide something in it, before the first coin, take all values in
turn, and the coins come out in all ways. That gives the chance of each answer, and what an answer costs is
the logarithm of the largest ratio of its chances.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from verifiable_dp.core.validate import NUMBERS_OR_BITS, Foreign, Function
from verifiable_dp.evidence.symbolic import accept_reject, states, users
from verifiable_dp.evidence.symbolic.adding import plus
from verifiable_dp.evidence.symbolic.atoms import Atom, Charge, moves_of
from verifiable_dp.evidence.symbolic.chances import outcome
from verifiable_dp.evidence.symbolic.comparing import bit_of
from verifiable_dp.evidence.symbolic.ends import Ends, Unbounded
from verifiable_dp.evidence.symbolic.multiplying import multiply, opaque
from verifiable_dp.evidence.symbolic.source import body_of
from verifiable_dp.evidence.symbolic.terms import Term, is_term, nature, number
from verifiable_dp.evidence.symbolic.world import World

_DRAWS = frozenset(("random", "integers", "choice", "randrange", "uniform"))
PURE = frozenset(
    (
        "int",
        "float",
        "bool",
        "round",
        "abs",
        "min",
        "max",
        "len",
        "range",
        "list",
        "tuple",
        "sum",
        "enumerate",
    )
)
MODULES = frozenset(("np", "numpy", "math"))
# Of these modules, by the most arguments: a further one would be written into.
_OF_MODULES = {
    **dict.fromkeys(
        ("exp", "log", "sqrt", "abs", "floor", "ceil", "round", "rint", "sign", "log1p", "expm1"), 1
    ),
    "minimum": 2,
    "maximum": 2,
    "clip": 3,
}
_STATEMENTS = (
    *(ast.Assign, ast.AnnAssign, ast.If, ast.Return, ast.For, ast.While, ast.Expr, ast.Pass),
    *(ast.Break, ast.Continue, ast.Raise, ast.Assert),
)
_MOST_WORLDS, _MOST_WAYS, _MOST_CHOICES, _MOST_HELPERS = 64, 4096, 40, 4


class Oracle:
    """Says how everything comes out in one run of a function.

    Parameters
    ----------
    script
        Numbers of the first choices; after them the first of all.
    natural
        Whether to follow the generator and the data instead.
    """

    def __init__(self, script: tuple[int, ...] = (), *, natural: bool = False) -> None:
        self.script, self.natural = script, natural
        self.units: set[int] = set()  # that move a raw number that decided something
        self.bits: set[Atom | None] = set()  # raw numbers that decided, if they are exclusive indicators
        self.made: list[
            tuple[int, int, Foreign]
        ] = []  # choice, how many there were, and its chance; None of raw ones

    def choose(self, chances: list[Foreign], natural: int) -> int:
        """One of several outcomes with these chances."""
        if len(self.made) >= _MOST_CHOICES:
            raise Unbounded("a randomised answer tosses too many coins")
        at = (
            natural
            if self.natural
            else self.script[len(self.made)]
            if len(self.made) < len(self.script)
            else 0
        )
        self.made.append((at, len(chances), chances[at]))
        return at

    def raw(self, world: World, values: range, natural: int, units: Iterable[int]) -> int:
        """The value of a raw whole number, which these units move."""
        self.units.update(units)
        if any(chance is not None for _, _, chance in self.made) and not self.natural:
            raise world.stop_raw("raw {data} are read after a coin was tossed")
        return values[self.choose([None] * len(values), values.index(natural))]

    def following(self) -> tuple[int, ...] | None:
        """The script of the next run; None after the last."""
        made = list(self.made)
        while made:
            at, size, _ = made.pop()
            if at + 1 < size:
                return (*(n for n, _, _ in made), at + 1)
        return None


class Position(accept_reject.Pick):
    """The position of the largest of several raw numbers: no number but for such a function."""

    def __init__(self, world: World, value: int, terms: list[Foreign], words: str) -> None:
        self.value, self.size_of, self._world = value, len(terms), world
        self.moved = {unit for t in terms if type(t) is Term for unit in moves_of(t.raw)}
        self._first = next(t for t in terms if type(t) is Term)
        self._words, self._place = words, world.place()

    @property
    def world(self) -> World:
        """The run it belongs to."""
        return self._world

    @property
    def is_own(self) -> bool:
        """Whether nobody but the user sees it."""
        return self._world.joint

    def plain(self) -> Foreign:
        """Nothing: it is raw."""
        raise self._world.stop(self._words, self._place, Ends.POSITION)

    term = plain

    def told(self, ufunc: Foreign, values: tuple[Foreign, Foreign]) -> Foreign:
        """Whether it is a public position, as a raw number; nothing else is followed."""
        other = next(v for v in values if v is not self)
        if ufunc not in (np.equal, np.not_equal) or not isinstance(other, int | np.integer) or nature(other):
            return ufunc(*(self.plain() if v is self else v for v in values))
        return opaque(
            self._first,
            float(ufunc(self.value, other)),
            0.0,
            1.0,
            lambda: dict.fromkeys(self.moved, (-1.0, 1.0)),
            True,
        )

    def chosen(self, box: Foreign) -> Foreign:
        """Nothing: it is raw; unless nobody else sees what a user chooses from what the same user brings."""
        return users.own_choice(self._world, self, box) if self._world.joint else self.plain()


def original(function: Foreign) -> Foreign:
    """A function of the program, without what stands in for it."""
    while inspect.isfunction(function) and function.__module__ != function.__globals__["__name__"]:
        function = getattr(function, "__wrapped__", None)
    return function


def is_answer(function: Function[Foreign]) -> bool:
    """Whether a function has no effect but what it returns, and draws coins and whole numbers only."""
    return bool(_draws_of(function, frozenset()))


def _draws_of(function: Foreign, around: frozenset[Foreign]) -> bool | None:
    """Whether a function without any effect draws; None of one that may have an effect."""
    code, scope = function.__code__, function.__globals__
    parts = _parts_of(code)
    if parts is None or code in around or len(around) > _MOST_HELPERS:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    named = [states.held(cells[name]) if name in cells else scope.get(name) for name in parts[1]]
    draws, found = parts[0], [*map(original, named)]
    for name in parts[2]:
        own = [vars(v) for v in scope.values() if inspect.isclass(v) and v.__module__ == scope["__name__"]]
        found += [original(names[name]) for names in own if name in names] or [None]
    for helper in found:
        if helper is Fraction:
            continue
        if not inspect.isfunction(helper) or helper.__globals__ is not scope:
            return None
        other = _draws_of(helper, around | {code})
        if other is None:
            return None
        draws = draws or other
    return draws


@functools.lru_cache(maxsize=1 << 14)
def _parts_of(code: Foreign) -> tuple[bool, frozenset[str], frozenset[str]] | None:
    """Whether a function draws, and which functions and methods it calls; None if it may have an effect."""
    function = body_of(code)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    draws, helpers, methods = False, set(), set()
    names = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    names |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if names & (PURE | MODULES):
        return None
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and not isinstance(node, _STATEMENTS):
            return None
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node, ast.Lambda | ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            return None
        if isinstance(node, ast.Call):
            made = node.func
            if isinstance(made, ast.Name):
                if node.keywords or made.id in names:
                    return None
                helpers |= {made.id} - PURE
                continue
            if not isinstance(made, ast.Attribute) or node.keywords:
                return None
            of_module = isinstance(made.value, ast.Name) and made.value.id in MODULES
            if of_module and len(node.args) > _OF_MODULES.get(made.attr, -1):
                return None
            if not of_module and made.attr not in _DRAWS:
                if not isinstance(made.value, ast.Name) or made.value.id != "self":
                    return None
                methods.add(made.attr)
            draws = draws or (not of_module and made.attr in _DRAWS)
    return draws, frozenset(helpers), frozenset(methods)


def _small(value: Foreign) -> range | None:
    """The values of a raw whole number, if there are few."""
    if not (is_term(value) and value.whole and not value.noise):
        return None
    low, high = value.range()
    if not (math.isfinite(low) and math.isfinite(high) and high - low < _MOST_WORLDS):
        return None
    return range(math.floor(low), math.ceil(high) + 1)


def fixed(world: World, value: Foreign) -> Foreign:
    """A raw whole number as the oracle wants it, while it is asked; anything else as it is."""
    if world.oracle is None:
        return value
    if type(value) is Position:
        return world.oracle.raw(world, range(value.size_of), value.value, value.moved)
    values = _small(value)
    if values is None:
        return value
    world.oracle.bits.add(bit_of(value))
    return world.oracle.raw(world, values, round(value.value()), moves_of(value.raw))


def is_raw(value: Foreign) -> bool:
    """Whether a value is raw: a number without noise, or the position of the largest of such numbers."""
    return type(value) is Position or (is_term(value) and bool(value.raw) and not value.noise)


def answering(world: World, function: Function[Foreign]) -> Function[Foreign]:
    """The function, whose answers are charged for if that is possible."""

    @functools.wraps(function)
    def call(*args: Foreign, **kwargs: Foreign) -> Foreign:
        world.note(function.__code__, tried=False)
        values = [number(v) for v in (*args, *kwargs.values())]
        if world.oracle is not None or not any(map(is_raw, values)) or not is_answer(function):
            return function(*args, **kwargs)
        found = answered(world, function, args, kwargs)
        return function(*args, **kwargs) if found is None else found[0]

    return call


def answered(
    world: World,
    function: Function[Foreign],
    args: tuple[Foreign, ...],
    kwargs: Mapping[str, Foreign] = MappingProxyType({}),
) -> tuple[Foreign] | None:
    """What a function answers, charged for; None, and nothing drawn, if that is not possible."""
    before = world.failure, world.at, len(world.seen), len(world.charges), len(world.finishing)
    state, units, bits = world.states(), set(), set()

    def ask(oracle: Oracle) -> Foreign:
        world.restore(state)
        with asking(world, oracle):
            found = function(
                *(fixed(world, v) for v in args), **{k: fixed(world, v) for k, v in kwargs.items()}
            )
            found = fixed(world, number(found))
            found = found.plain() if type(found).__name__ == "Coin" else found
        units.update(oracle.units)
        bits.update(oracle.bits)
        if not isinstance(found, NUMBERS_OR_BITS) or is_term(found):
            raise world.stop("a randomised answer is not a plain number")
        return found

    try:
        chances = _chances(world, ask)
        natural = ask(Oracle(natural=True))
    except Unbounded:
        chances = None
    except Exception as error:  # for some rewards only: who catches it knows of them
        raise world.stop(f"{type(error).__name__}: no randomised answer is given for some rewards") from error
    if (len(world.seen), len(world.charges), len(world.finishing)) != before[2:]:
        raise world.stop("a randomised answer (from coin tosses) reveals more than the answer")
    if chances is None:
        world.failure, world.at = before[:2]
        world.restore(state)
        return None
    possible = list(chances)
    answer = possible[world.chooser.winner(possible.index(natural), range(len(possible)))]
    _charge(world, chances[answer], units, bits)
    return (natural if answer == natural else answer,)


@contextmanager
def asking(world: World, oracle: Oracle) -> Iterator[None]:
    """Let an oracle say how coins come out."""
    world.oracle = oracle
    try:
        yield
    finally:
        world.oracle = None


def _chances(world: World, ask: Callable[[Oracle], Foreign]) -> Mapping[Foreign, list[Foreign]]:
    """For every answer its chances in all the worlds that raw numbers make."""
    worlds: dict[tuple[int, ...], dict[Foreign, Foreign]] = {}
    oracle = Oracle()
    for _ in range(_MOST_WAYS):
        answer = ask(oracle)
        raw = tuple(at for at, _, chance in oracle.made if chance is None)
        weight: Foreign = functools.reduce(multiply, [c for _, _, c in oracle.made if c is not None], 1.0)
        known = worlds.setdefault(raw, {})
        known[answer] = plus(known.get(answer, 0.0), weight)
        script = oracle.following()
        if script is None:
            break
        oracle = Oracle(script)
    else:
        raise world.stop("a randomised answer has too many possible sequences of coin tosses")
    answers = [
        a for known in worlds.values() for a, chance in known.items() if type(chance) is Term or chance > 0
    ]
    return {
        answer: [known.get(answer, 0.0) for known in worlds.values()] for answer in dict.fromkeys(answers)
    }


def _charge(world: World, chances: list[Foreign], units: set[int], bits: set[Atom | None]) -> None:
    """Pay for an answer with these chances, in the worlds that these raw numbers make."""
    if len(chances) == 1:
        outcome(world, chances[0])
        return
    ends = [chance.range() if type(chance) is Term else (float(chance),) * 2 for chance in chances]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    cost = math.log(high / low) if low > 0 else math.inf
    units = units.union(*(moves_of(chance.raw) for chance in chances if type(chance) is Term))
    bit, loss = None, 0.0
    if len(bits) == 1 and len(chances) == 2 and 0 < cost < math.inf and not any(map(is_term, chances)):
        (bit,), loss = bits, math.log(chances[1] / chances[0])
    world.charge(Charge(world.place(), dict.fromkeys(units, (cost, cost)), bit=bit, loss=loss))


def told(coin: Foreign, one: Foreign, other: Foreign) -> Foreign:
    """One of two raw numbers, as a coin falls; None if they do not follow from one whole number."""
    atoms = {atom for term in (one, other) for atom, weight in term.raw.items() if weight}
    atom = next(iter(atoms), None)
    if atom is None or len(atoms) > 1 or not atom.whole or not atom.high - atom.low < _MOST_WORLDS:
        return None
    worlds = range(math.floor(atom.low), math.ceil(atom.high) + 1)
    chances: dict[Foreign, list[float]] = {}
    for place, value in enumerate(worlds):
        for term, chance in ((one, coin.chance), (other, 1 - coin.chance)):
            answer = term.const + term.raw.get(atom, 0.0) * value
            chances.setdefault(answer, [0.0] * len(worlds))[place] += chance
    possible = list(chances)
    picked = one if coin.function(np.float64(coin.source.value)) else other
    natural = min(range(len(possible)), key=lambda i: abs(possible[i] - picked.value()))
    coin.source.take()
    answer = possible[coin.world.chooser.winner(natural, range(len(possible)))]
    _charge(coin.world, chances[answer], set(atom.moves), {atom if atom.cell is not None else None})
    if {*possible} <= {0.0, 1.0}:
        return np.bool_(answer)
    return np.int64(answer) if one.whole and other.whole else np.float64(answer)


def answers_of(scope: Mapping[str, Foreign]) -> Iterator[tuple[Foreign, str, Function[Foreign]]]:
    """Functions of a module and its classes that may be answers: owner, name, function."""
    known = PURE | _DRAWS
    if any(inspect.isfunction(scope.get(name)) for name in known) or not all(
        known.isdisjoint(vars(value).keys()) for value in scope.values() if isinstance(value, type)
    ):
        return  # what these names do is not known
    for name, value in list(scope.items()):
        if inspect.isfunction(value) and value.__module__ == scope.get("__name__") and is_answer(value):
            yield scope, name, value
        elif inspect.isclass(value) and value.__module__ == scope.get("__name__"):
            for method, function in list(vars(value).items()):
                if inspect.isfunction(function) and is_answer(function):
                    yield value, method, function
