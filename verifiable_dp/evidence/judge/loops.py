"""What a loop does whose number of turns follows from draws: paths see the usual numbers of turns.

Runs know which entries and which noise a number is made of. They tell where data without noise are given
noise, weighed, or added to what has them already. What they cannot tell is how often that is done on other
paths. The bound ends where

1. noise is added that a rare number of turns leaves out (`Value.partial`): it is set or added up in such a
   loop, summed over as many as a draw says, or put beside what is no noise;
2. data are given noise again in each turn, and are the same in each (`Value.kept`);
3. a number is made of itself in such a loop (`carrying`), by a weight, or by noise on data without noise;
4. data are added to what has them already, as often as a draw says (`often`);
5. data that are the same in each turn say how a draw comes out, or that of as many as a draw says
   (`told_again`).

What a turn does with entries of its own is done once for each of them, however many turns there are: those
of names that a turn sets anew, and of tables at places that such names say (`moving`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.chances import Chances
from verifiable_dp.evidence.judge.flow import (
    Function,
    bound,
    name_of,
    names_in,
    own_nodes,
    parameters,
    reached,
)
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.judge.trees import walk
from verifiable_dp.evidence.judge.values import Value, joined

_STORES = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For | ast.comprehension
_CHANGES = values.CHANGES | values.MOVES


class SetName(NamedTuple):
    """A name that a turn sets.

    Attributes
    ----------
    name
        With a dot of an attribute.
    read, parts
        What is read for it, and what it is made of.
    fresh, new
        Whether it is another thing each time, and whether that is so whatever it was before.
    again
        Whether it is the same again after some turns.
    """

    name: str
    read: set[str]
    parts: set[str]
    fresh: bool
    new: bool
    again: bool = False


class Loops(Chances):
    """Follows what is done in turns of which nobody knows how many there are."""

    def outlives(self, name: str) -> bool:
        """Whether what stands under a name is there in the next call, too."""
        return not (name.isidentifier() and self.is_own(name))

    def varying(self, *, outer: bool = False) -> list[ast.AST]:
        """Loops around what is looked at that turn as often as draws say.

        Also those around the calls of its function, if it is of `outer` names.
        """
        here = self.function_of(self.scope)
        found = [one for one in self.turning if one in self.uneven or one in self.left]
        self.inside |= dict.fromkeys(found, here)
        return [*found, *self.called_in.get(here, ())] if outer else found

    def kept_in(self, name: str, value: Value) -> Value:
        """What is read under a name, which says if it is data that are the same in each of such turns."""
        here, inside = self.function_of(self.scope), {*self.turning}
        kept = {one for one in value.kept if one in inside or self.inside[one] is not here}
        if value.raw:
            outer = self.outlives(name)
            owner, around = self.names.owner(self.scope, name), self.turning
            # Of what a comprehension sets anew, what it goes through says whether it is the same again.
            around = around[: around.index(owner)] if owner in around else []
            kept |= {o for o in self.varying(outer=outer) if o not in around and name not in self.remade(o)}
            kept |= {here} & self.again_in if outer else set()
        return value._replace(kept=frozenset(kept)) if kept != value.kept else value

    def at_place(self, value: Value, index: ast.expr) -> Value:
        """What is read at a place: another entry in each turn that sets the place anew."""
        if not value.kept:
            return value
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        read = {name for part in parts if not _recurs(part) for name in names_in(part, ast.Load)}
        kept = frozenset(one for one in value.kept if not read & self.apart(one))
        return value._replace(kept=kept)

    def carries(self, step: Foreign) -> None:
        """Note where a statement makes something of itself in each of such turns, or calls."""
        adds = isinstance(step, ast.AugAssign)
        read = _made_of(step.value)
        for target in _parts(getattr(step, "targets", None) or [step.target]):
            name, index = _base(target)
            for loop in self.varying(outer=self.outlives(name)):
                again = {name} if adds else read & self.circles(loop, name)
                if again and not index & self.moving(loop):
                    self.note_carrying(step, again)

    def one_of(self, *sides: Value) -> Value:
        """One of several values, as a condition says: of one of several calls no path may show which."""
        made = joined(sides)
        several = len(self.callers.get(self.function_of(self.scope), ())) > 1
        unlike = made.noisy and not all(side.noisy for side in sides)
        return made._replace(partial=True) if several and unlike else made

    def goes_round(self, node: ast.AST) -> bool:
        """Whether a function that is called here leads back here."""
        here = self.function_of(self.scope)
        return isinstance(here, Function) and here in {node, *reached(self.calls, node)}

    def handed_on(self, part: ast.expr | None, value: Value) -> Value:
        """What a function gives itself: the same as it was given, or something that it makes of it."""
        here = self.function_of(self.scope)
        self.again_by.add(self.calling)
        self.again_in.add(here)
        self.inside.setdefault(here, self.function_of(self.names.outer[here]))
        given = {one.arg for one in parameters(here)}  # type: ignore[arg-type]
        if isinstance(part, ast.Name) and part.id in given:
            return value._replace(kept=value.kept | {here}) if value.raw else value
        if part is not None and given & names_in(part, ast.Load):
            self.note_carrying(part)
        return value

    def note_carrying(self, node: ast.AST, names: Iterable[str] = ()) -> None:
        """Note operations in there on names that something is made of again; of none, all of them."""
        read, home = {*names}, self.names.home[self.scope]
        for part in walk(node) if read else ():
            if isinstance(part, ast.comprehension) and read & names_in(part.iter, ast.Load):
                read |= names_in(part.target, ast.Store)
        for part in walk(node) if self.telling else ():
            there = part is node or not read or names_in(part, ast.Load) & read
            if isinstance(part, ast.BinOp | ast.AugAssign | ast.Call) and there:
                self.carrying.add((home, where(part)))

    def note_often(self, node: ast.AST, parts: Iterable[Value]) -> None:
        """Note an operation that is done as often as draws say, or on as many."""
        if self.telling and (self.control.level or self.varying() or any(one.size for one in parts)):
            self.often.add((self.names.home[self.scope], where(node)))

    def note_told(self, node: ast.AST, parts: Iterable[Value], size: int) -> None:
        """Note where data may say how draws come out as often as draws say: in each turn, or of so many."""
        raw = [one for one in parts if one.raw]
        if self.telling and any(one.kept or one.size < size for one in raw):
            self.told_again.append((self.names.home[self.scope], where(node)))

    def left_out(self, name: str, value: Value) -> Value:
        """What a name is given: noise of which nobody knows whether a turn gives it."""
        seldom = value.noisy and self.varying(outer=self.outlives(name))
        return value._replace(partial=True) if seldom else value

    def beside(self, parts: Iterable[Value]) -> bool:
        """Whether as much noise as draws say is put beside what is none."""
        parts = [*parts]
        uneven = any(one.noisy and (one.size or one.partial) for one in parts)
        return uneven and not all(one.noisy for one in parts)

    def moving(self, loop: ast.AST) -> frozenset[str]:
        """Names that may be something else in each turn."""
        key = loop, self.uneven_parts.get(loop)
        if key not in self.turned:
            steps = [*self.steps_of(loop)]
            found = {step.name for step in steps if step.fresh}
            while more := {s.name for s in steps if s.read & (found | {s.name})} - found:
                found |= more
            self.turned[key] = steps, frozenset(found)
        return frozenset(self.turned[key][1])

    def apart(self, loop: ast.AST) -> set[str]:
        """Of `moving`, names that are not made in a way that gives the same again after some turns."""
        found = {*self.moving(loop)}
        steps = self.turned[loop, self.uneven_parts.get(loop)][0]
        again = {one.name for one in steps if one.again}
        while more := {s.name for s in steps if s.read & again and not s.read & (found - again)} - again:
            again |= more
        return found - again

    def remade(self, loop: ast.AST) -> set[str]:
        """Of `moving`, names that are made of more than themselves; else they hold the same data."""
        moving = self.moving(loop)
        steps = self.turned[loop, self.uneven_parts.get(loop)][0]
        return {one.name for one in steps if one.new or (one.read - {one.name}) & moving}

    def circles(self, loop: ast.AST, name: str) -> set[str]:
        """Names of data that it is made of, turn after turn, and that are made of it."""
        self.moving(loop)
        made = dict[str, set[str]]()
        for step in self.turned[loop, self.uneven_parts.get(loop)][0]:
            made.setdefault(step.name, set()).update(step.parts)
        made = {one: read for one, read in made.items() if self.may_be_data(one)}
        return {one for one in reached(made, name) if name in reached(made, one)}

    def may_be_data(self, name: str) -> bool:
        """Whether data or noise may be under a name, or under an attribute with a dot."""
        found = self.stored(name[1:]) if name[:1] == "." else self.marks.get(self.key(name))
        return found is not None and (found.data or bool(found.things))

    def steps_of(self, loop: ast.AST) -> Iterator[SetName]:
        """What a turn sets, also in functions that it calls, of what is not theirs alone."""
        waiting, seen = [loop], set[ast.AST]()
        while waiting:
            around = waiting.pop()
            seen.add(around)
            own = self.names.local[around] if isinstance(around, Function) else set[str]()
            parts = [part for part in walk(around) if isinstance(part, ast.Call)]
            named = {getattr(part.func, "attr", getattr(part.func, "id", "")) for part in parts}
            every = (one for nodes in self.names.coded.values() for one in nodes)
            waiting += [one for one in every if getattr(one, "name", "") in named and one not in seen]
            yield from (one for one in self.steps_in(around) if one.name not in own)

    def steps_in(self, loop: ast.AST) -> Iterator[SetName]:
        """As `steps_of`, of one loop or function."""
        for node in (loop, *own_nodes(loop)):
            if isinstance(node, _STORES):
                source = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
                first = (
                    node is loop or node in getattr(loop, "generators", [])[self.uneven_parts.get(loop, 0) :]
                )
                fresh = first or isinstance(node, ast.AugAssign)
                read = names_in(source, ast.Load) if source is not None else set[str]()
                parts = _made_of(source)
                for target in _parts(getattr(node, "targets", None) or [node.target]):  # type: ignore[union-attr]
                    name, index = _base(target)
                    again = source is not None and not first and _recurs(source)
                    yield SetName(name, read, parts, fresh or bool(index), first, again)
            elif isinstance(node, ast.Match):
                read, parts = names_in(node.subject, ast.Load), _made_of(node.subject)
                patterns = (part for case in node.cases for part in walk(case.pattern))
                for name in (name for part in patterns for name in bound(part)):
                    yield SetName(name, read, parts, True, False)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _CHANGES:
                read = {name for part in node.args for name in names_in(part, ast.Load)}
                fresh = node.func.attr not in values.MOVES  # type: ignore[attr-defined]
                parts = {name for part in node.args for name in _made_of(part)}
                yield SetName(_base(node.func.value)[0], read, parts, fresh, False)  # type: ignore[attr-defined]


def _recurs(node: ast.AST) -> bool:
    """Whether a number is a remainder or the like, which other numbers have, too."""
    recurring = ast.Mod | ast.FloorDiv | ast.BitAnd | ast.BitXor | ast.RShift
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, recurring) for part in walk(node))


def _made_of(node: ast.AST | None) -> set[str]:
    """Names of which something is made, not those that say at which place it is read."""
    if node is None:
        return set()
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
        return _made_of(node.value)
    own = names_in(node, ast.Load) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else set()
    return own | {name for part in ast.iter_child_nodes(node) for name in _made_of(part)}


def _parts(targets: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """What is set, one by one."""
    for one in targets:
        if isinstance(one, ast.Tuple | ast.List):
            yield from _parts(one.elts)
        else:
            yield one.value if isinstance(one, ast.Starred) else one


def _base(target: ast.AST) -> tuple[str, set[str]]:
    """The name, with a dot of an attribute, under which something is set, and what says at which place."""
    index = set[str]()
    while isinstance(target, ast.Subscript):
        index |= names_in(target.slice, ast.Load) or {""}
        target = target.value
    return name_of(target), index
