"""What is known of the names of users' code, and what is told of it."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside
from verifiable_dp.evidence.judge.flow import INITIAL, Function, Names
from verifiable_dp.evidence.judge.outside import Construct, Outside
from verifiable_dp.evidence.judge.values import (
    CODE,
    GENERATOR,
    NONE,
    NUMBER,
    PUBLIC,
    SMOOTH,
    STEEP,
    UNKNOWN,
    Value,
    joined,
)

ENVIRONMENT = ("environment", None)
DATA = Value(SMOOTH, data=True, raw=True)
ROLES = {  # what an adapter fills parameters with; anything else is unknown
    "public": Value(),
    "data": DATA,
    "drawn": Value(SMOOTH),
    "seed": Value(SMOOTH),
    "generator": Value(own=frozenset((GENERATOR,))),
    "environment": Value(own=frozenset((ENVIRONMENT,))),
}
Roles = Mapping[types.CodeType | type, Mapping[str, str]]
Spot = tuple[str, tuple[int, ...]]  # file and position of an expression

_T = TypeVar("_T")
_DEEPEST = 3


class Root(NamedTuple):
    """A name whose entries something may share: what changes `deep` in that, from `least` on, does there.

    ``x = y[0]`` shares with y what is changed in x, one deeper; ``x = [y]`` what is changed in entries of x.
    Of an entry that is not `fixed` a draw says which it is, as of ``x = y[arm]``.
    """

    key: Foreign
    way: int = 0
    least: int = 0
    fixed: bool = False

    def entry(self, *, fixed: bool = True) -> Root:
        """The same, of an entry of that."""
        return Root(self.key, self.way + 1, max(0, self.least - 1), self.fixed or fixed)

    def inside(self) -> Root:
        """The same, of a container with that in it."""
        return Root(self.key, self.way - 1, max(1, self.least + 1), self.fixed)

    def copied(self) -> Root:
        """The same, of a copy with the same entries."""
        return self._replace(least=max(1, self.least))


class Chance(NamedTuple):
    """A condition that a draw decides.

    Attributes
    ----------
    site
        Where it stands.
    raw
        Whether people's data decide it, too.
    kept
        Names that are set, whatever it decides.
    """

    site: Foreign
    raw: bool
    kept: frozenset[str]


class ControlMark(NamedTuple):
    """How it follows from draws, and from the turn of a loop, whether a statement is reached.

    `inner` of conditions in the same function alone: a call of it gives its own names what it gives them.
    `chance` of those that a draw decides.
    """

    level: int = PUBLIC
    turn: int = PUBLIC
    inner: int = PUBLIC
    chance: tuple[Chance, ...] = ()

    @property
    def tossed(self) -> Value:
        """What decides it, as far as draws do."""
        return Value(SMOOTH, tossed=True, raw=any(o.raw for o in self.chance)) if self.chance else Value()

    def under(self, site: Foreign, test: Value, kept: Iterable[str] = ()) -> ControlMark:
        """The same on another condition."""
        more = (Chance(site, not test.by_chance, frozenset(kept)),) if test.tossed and test.level else ()
        return self._replace(chance=(*self.chance, *more))


def where(node: Foreign) -> tuple[int, ...]:
    """Position of a node, as instructions have it."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class Marks:
    """What is known of names, attributes and functions, and what is told of the code.

    Parameters
    ----------
    names
        Of the files.
    roles
        What an adapter fills parameters with.
    ran
        Functions that ran.
    """

    def __init__(self, names: Names, roles: Roles, ran: set[Function]) -> None:
        self.names, self.ran, self.marks = names, ran, dict[Foreign, Value]()
        self.outermost: dict[Foreign, Value] = {}  # as `marks`, without what is known of entries of entries
        self.doubtful: set[Foreign] = set()  # names that may stand for what is not above 0
        self.divided: set[Spot] = set()  # where both sides of a sum are divided by the same
        self.looked = self.marks  # where names are looked up
        self.changed, self.telling = True, False
        self.outside: dict[tuple[ast.AST, int, bool], Outside] = {}  # by function, line, form that is unknown
        self.asked: dict[Spot, bool] = {}
        # Of calls and comparisons, by place or name.
        self.operands: dict[Spot, list[tuple[Foreign, Value]]] = {}
        self.arithmetic: dict[Spot, list[Value]] = {}
        self.drawn_at: set[Spot] = set()  # where a generator is asked
        self.left: set[ast.AST] = set()  # loops that a draw may end early
        self.loops: list[ast.AST] = []
        self.counted: dict[Foreign, set[ast.AST]] = {}  # names, and loops that set them in each turn
        self.uneven: set[ast.AST] = set()  # loops that turn as often as draws say
        self.turned: dict[Foreign, Foreign] = {}  # loops, and what their turns set
        self.uneven_parts: dict[ast.AST, int] = {}  # comprehensions, and the last part that does
        self.called_in: dict[ast.AST, set[ast.AST]] = {}  # functions, and such loops around their calls
        self.inside: dict[ast.AST, ast.AST] = {}  # loops, and where they stand
        self.carrying: set[Spot] = set()  # where something is made of itself in each turn of these
        self.often: set[Spot] = set()  # what is done as often as draws say
        self.told_again: list[Spot] = []  # where data may say how draws come out, as often as draws say
        self.bases: dict[Spot, Value] = {}  # of methods that are called
        self.again_in: set[ast.AST] = set()  # functions that call themselves
        self.again_by: set[ast.AST] = set()  # calls by which they do
        self.placed = False  # whether it is known at which places draws write
        self.consumed: set[ast.AST] = set()  # generator expressions that are taken to their ends
        self.begun: set[Foreign] = set()  # names that are given what is not empty
        self.given_at: dict[Foreign, set[Foreign]] = {}  # parameters, and what they are given
        self.given_public: set[Foreign] = set()  # of these, which are given what is the same in all runs
        self.after = False  # whether a draw may have ended the function before
        self.context = ControlMark()
        self.scope: ast.AST = ast.Module([], [])
        self.bound: set[Function] = set()  # functions of which a call is known
        self.calls: dict[ast.AST, set[ast.AST]] = {}
        self.wide: frozenset[Spot] = frozenset()
        self.disclosed: frozenset[Spot] = frozenset()
        self.spots: set[Spot] = set()  # where disclosing would do
        self.kept: dict[str, set[tuple[int, ...]]] = {}  # attributes, and where they are set
        self.replaced: dict[Foreign, set[Foreign]] = {}  # names, and where chance alone says what they hold
        self.at_once = False  # whether what is looked at is an entry of a table that is made at one time
        self.turning: list[ast.AST] = []  # loops and comprehensions around what is looked at
        self.repeats: set[ast.AST] = set()  # functions that are called more than once
        self.callers: dict[ast.AST, set[ast.Call]] = {}  # functions, and their calls
        self.parting: dict[ast.AST, Value] = {}  # functions and loops that draws may end, and what decides
        self.calling = ast.Call(ast.Name("", ast.Load()), [], [])  # the call that is looked at
        self.leaving = Value()  # what decides whether the next statement is left out
        self.puts: dict[Foreign, set[tuple[int, ...]]] = {}  # where something is put into containers
        self.chains: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        self.decorators: dict[ast.AST, list[Foreign]] = {}
        self.alias: dict[Foreign, set[Root]] = {}  # names, and those whose containers they may share
        self.roles, self.firm = roles, False  # whether all that may be called is known
        self.fill_roles()

    def fill_roles(self) -> None:
        """Parameters that an adapter fills are what it fills them with."""
        for code, given in self.roles.items():
            if isinstance(code, type):  # its fields are filled
                keys: dict[str, Foreign] = {name: ("attribute", name) for name in given}
            else:
                node = self.names.node_of(code)
                keys = {name: (node, name) for name in given}
                if node is not None:
                    self.bound.add(node)
                    method = isinstance(self.names.outer[node], ast.ClassDef)
                    if method and getattr(node, "name", "") not in INITIAL:  # asked once a round
                        self.repeats.add(node)
            for name, role in given.items():
                self.add(keys[name], ROLES.get(role, UNKNOWN))

    @property
    def control(self) -> ControlMark:
        """Of the statement that is looked at."""
        level, turn, inner, chance = self.context
        level, inner = (SMOOTH if n or self.after else PUBLIC for n in (level, inner))
        return ControlMark(level, turn, inner, chance)

    def within(self, condition: Value) -> ControlMark:
        """What is looked at where something is reached on a condition."""
        level, turn, before = condition.level, condition.turn, self.context
        levels = [max(pair) for pair in zip(before[:3], (level, turn, level), strict=True)]
        return ControlMark(levels[0], levels[1], levels[2], before.chance)

    def add(self, key: Foreign, value: Value, outer: Value | None = None, *, above: bool = False) -> None:
        """Something may be this, too; `outer` is what that says of a container without what is inside.

        It is `above` 0, or nothing new (`factors`).
        """
        if not above:
            self.note(self.doubtful, key)
        for marks, made in ((self.marks, value), (self.outermost, value if outer is None else outer)):
            known = marks.get(key, Value())
            if known | made != known:
                marks[key] = known | made
                self.changed = True

    def hold(self, roots: Iterable[Root], value: Value, deep: int = 0, *, above: bool = False) -> None:
        """A container gets an entry: whoever holds it, and whoever it is held by, has it, too.

        At `_DEEPEST`, it gets it there or anywhere deeper. What is around an entry that a draw says is as
        long as before, and has no entry that is unlike others.
        """
        waiting = [(root.key, max(root.way, deep), root.fixed) for root in roots]
        seen, value = (
            set[tuple[Foreign, int, bool]](),
            value._replace(own=NONE, inner=value.own | value.inner),
        )
        while waiting:
            key, at, fixed = waiting.pop()
            at = min(at, _DEEPEST)
            if (key, at, fixed) not in seen:
                seen.add((key, at, fixed))
                inside = 0 < at < _DEEPEST and not fixed
                outer = value._replace(size=PUBLIC, rough=PUBLIC) if inside else None
                self.add(key, value, outer, above=above)
                shared = [root for root in self.alias.get(key, ()) if at >= min(root.least, _DEEPEST)]
                waiting += [
                    (root.key, at if at == _DEEPEST else at + root.way, fixed or root.fixed)
                    for root in shared
                ]

    def behind(self, roots: Iterable[Root]) -> set[Root]:
        """What these may be parts of: where they are changed in all places, that is changed in some."""
        return {one for root in roots for one in self.alias.get(root.key, ()) if not one.least}

    def holds(self, containers: Iterable[Root], given: Iterable[Root]) -> None:
        """Something, or all that is in it, is put into containers: what is changed there, is changed here."""
        given = [*given]
        for root in containers:
            for one in given:
                for _ in range(root.way):
                    one = one.inside()
                self.share(root.key, {one.inside(), one.copied()})

    def written(self, roots: Iterable[Root], given: Value) -> None:
        """Code that is not seen has these, and may write into them what it is given, at any place."""
        draws = any(kind in ("generator", "draws") for kind, _ in given.refs)
        value = self.reached(given.steep()._replace(own=NONE, inner=given.refs - {GENERATOR}))
        level = max(value.level, STEEP if draws else PUBLIC)
        self.hold(roots, value._replace(level=level, rough=STEEP, size=max(value.size, level)), _DEEPEST)

    def note(self, found: set[_T], one: _T) -> None:
        """Put something into a set of what is known."""
        self.changed = self.changed or one not in found
        found.add(one)

    def share(self, key: Foreign, roots: Iterable[Root]) -> None:
        """A name may stand for the same container as others do, for one in them, or one with them in it."""
        known = self.alias.setdefault(key, set())
        if not known.issuperset(roots := {*roots} - {Root(key)}):
            known |= roots
            self.changed = True

    def repeated(self) -> bool:
        """Whether what is done here is done again, in another turn or call."""
        return bool(self.turning) or self.function_of(self.scope) in self.repeats

    def reached(self, value: Value, *, own: bool = False) -> Value:
        """A value where it is only given on conditions, and maybe another one in another turn or call.

        To a name of the call's own, which no other call sees, only conditions and turns in the function are
        any.
        """
        level = self.control.inner if own else self.control.level
        again = bool(self.turning) if own else self.repeated()
        turn = STEEP if self.control.turn else SMOOTH if again else PUBLIC
        levels = max(value.level, level), max(value.turn, turn), max(value.size, level)
        decided = self.context.tossed
        tossed, raw = value.tossed or decided.tossed, value.raw or decided.raw
        return value._replace(level=levels[0], turn=levels[1], size=levels[2], tossed=tossed, raw=raw)

    def slope(self, value: Value) -> int:
        """How an entry with this value follows from its position, where that goes with the turn of a loop."""
        return STEEP if self.control.turn else value.turn

    def tell(self, node: Foreign, construct: Construct, name: str = "") -> None:
        """Note where the language ends."""
        if self.telling:
            words = construct.words.format(name)
            key = self.function_of(self.scope), node.lineno, construct is outside.STATEMENT
            self.outside.setdefault(
                key, Outside(self.names.home[self.scope], node.lineno, words, construct.instead)
            )

    def note_shown(self, node: Foreign, value: Value) -> None:
        """Tell of code that is turned into text: that shows the module's name, or an address."""
        self.note_order(node, value)
        if any(tag in CODE for tag, _ in value.refs):
            self.tell(node, outside.READS, "the name of a class or a function")

    def note_chosen(self, node: Foreign, *, made: bool) -> None:
        """Tell of a function of which something that is not settled says whether, or how, it is made."""
        home, around = self.names.home[node], [node]
        while (at := self.names.outer.get(around[-1])) is not None:
            around.append(at)
        if made or not self.names.settled[home].chosen.isdisjoint(around):
            words = outside.READS.words.format(
                f"{getattr(node, 'name', 'a lambda')} (by what says which one is made)"
            )
            key = node, node.lineno, False
            self.outside.setdefault(key, Outside(home, node.lineno, words, outside.READS.instead))

    def note_order(self, node: Foreign, value: Value) -> None:
        """Tell of a set that is gone through: its order is another one in another process."""
        if value.unordered:
            self.tell(node, outside.READS, "the order of a set")

    def picks(self, node: Foreign, construct: Construct, name: str = "") -> None:
        """Note where the language ends unless what a draw picks from there is disclosed."""
        if self.telling:
            self.spots.add((self.names.home[self.scope], where(node)))
        self.tell(node, construct, name)

    def known(self, node: Foreign, value: Value) -> Value:
        """What an expression is made of; public where it is disclosed."""
        told = (self.names.home[self.scope], where(node)) in self.disclosed
        return value._replace(data=False, kept=frozenset()) if told else value

    def ask(self, value: Value, *nodes: Foreign) -> Value:
        """Note a condition: whether it is the same in every run, wherever in a run it is asked.

        Of a container it asks whether anything is in it.
        """
        if value.container and not value.things and NUMBER not in value.own:
            there = value.size > PUBLIC
            value = Value(value.size, value.turn, tossed=there and value.tossed, raw=value.raw)
        public = value.level == PUBLIC and not (self.control.level and value.turn)
        for node in nodes if self.telling else ():
            key = self.names.home[self.scope], where(node)
            self.asked[key] = public and self.asked.get(key, True)
        return value

    def function_of(self, scope: Foreign) -> ast.AST:
        """The function, or the file, that a scope belongs to."""
        while not isinstance(scope, Function | ast.Module):
            scope = self.names.outer[scope]
        return scope

    def stored(self, name: str) -> Value | None:
        """What was stored under the name of an attribute; None if nothing was."""
        found = [v for v in (self.looked.get(("attribute", name)), self.names.attributes.get(name)) if v]
        return joined(found) if found else None

    def named_whole(self, node: ast.Attribute) -> None:
        """An attribute of a class's own goes by another name outside of it."""
        if node.attr.startswith(self.names.mangled):
            self.tell(node, outside.REFLECTION, node.attr)

    def compared(self, node: Foreign, *asked: Value) -> None:
        """Python may ask whether these are equal, of objects by methods that a decorator has written."""
        made = {ref for value in asked for tag, ref in value.own | value.inner if tag == "instance"}
        if any(self.names.has_generated_equality(kind) for kind in made):
            self.tell(node, outside.BY_PYTHON, "__eq__ (as a dataclass)")

    def of_one(self, base: Value, value: Value) -> Value:
        """An attribute of an object that a draw chooses: of others it may be another."""
        level = STEEP if base.level else PUBLIC
        return value._replace(
            level=max(value.level, level), draws=max(value.draws, 0 if value.data else base.draws)
        )

    def of(self, node: Foreign) -> Value:
        """What an expression may be (`expressions`)."""
        raise NotImplementedError

    def combined(self, node: Foreign, op: ast.operator, one: Value, other: Value) -> Value:
        """What an operation gives (`expressions`)."""
        raise NotImplementedError

    def roots(self, node: Foreign) -> set[Root]:
        """Whose entries an expression may share (`expressions`)."""
        raise NotImplementedError

    def store(self, target: Foreign, value: Value, roots: set[Root]) -> None:
        """A target is given a value (`language`)."""
        raise NotImplementedError

    def key(self, name: str) -> Foreign:
        """What is known of a name here stands under this."""
        return self.names.owner(self.scope, name), name
