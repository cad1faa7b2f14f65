"""What chance chooses again and again: what it leaves of a first choice is in fewer runs than are looked at.

A choice is a place where chance alone says which of several contents goes on: a condition around what sets a
name, a container or an attribute, a choice between two, a return, an entry at a drawn place. Each content
knows the choices that it came through (`Value.passed`). One that comes through the same choice again, in
another turn or call, or through `_SELDOM` of them, may be left in too few runs to be seen: of data and noise
that ends the bound, and any other number may be special for rare draws from there on.

The values of names are joined over the order of statements, so what a name holds after a choice seems to be
there before it. So for names of a call alone the value before a choice is that which this turn, or this call,
has given them (`first`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside
from verifiable_dp.evidence.judge.flow import (
    COMPREHENSION,
    Function,
    name_of,
    names_always_set,
    names_in,
    parameters,
    settled,
    walk,
)
from verifiable_dp.evidence.judge.marks import Marks, where
from verifiable_dp.evidence.judge.values import SMOOTH, STEEP, Value, joined

_SELDOM = 6  # choices that all fall one way in fewer runs than there are paths

_HOLDING = ("instance", "function", "method", "applied")  # may hold data and noise
SEVERAL = ("several", None)  # draws of which some may be alike
LOTTERY = ("lottery", None)  # a tuple that begins with a draw, so that draws sort such tuples
GROWN = ("grown", None)  # what is in a container to which chance adds or not, time after time


class Chances(Marks):
    """Follows what chance chooses."""

    def selected(
        self, node: Foreign, value: Value, test: Value, before: Value | None = None, others: int = 0
    ) -> Value:
        """What a draw has chosen here, by a test.

        `before` of what it chose from, if not of all of it; so many `others` choose from the same.
        """
        if not test.by_chance:
            return value
        site = ("choice", node)
        chosen = value if before is None else before
        depth = min(max(value.depth, chosen.depth + (site not in chosen.passed)), _SELDOM)
        again = site in chosen.passed and self.repeated()
        if again or max(depth, others) >= _SELDOM:
            if value.data or any(kind in _HOLDING for kind, _ in value.refs):
                self.tell(node, outside.SURVIVES)
            value |= Value(STEEP)
        return value._replace(passed=value.passed | {site}, depth=depth)

    def replaces(self, key: Foreign, name: str) -> None:
        """Something is set here: where a draw says whether, what was there before may be left."""
        own = name[:1] != "." and self.is_own(name)
        if isinstance(key[0], COMPREHENSION):  # each gives its names anew
            return
        for site, kept, raw in self.context.chance:
            if name not in kept and not (own and isinstance(site, Function)):
                known = self.marks.get(key, Value())
                before = self.first(name, site) if own else known
                sites, test = self.replaced.setdefault(key, set()), Value(SMOOTH, tossed=True, raw=raw)
                sites |= set() if raw else {site}
                self.add(key, self.selected(site, known, test, before, len(sites)))

    def replaces_in(self, container: ast.expr, grows: bool = False) -> None:
        """Something in a container is changed here; what only grows keeps what it holds."""
        base = container
        while isinstance(base, ast.Subscript | ast.Call):
            base = base.value if isinstance(base, ast.Subscript) else base.func
        for root in self.roots(container) if self.context.chance and not grows else ():
            self.replaces(root.key, name_of(base))

    def first(self, name: str, step: Foreign) -> Value:
        """What a name of this call may hold when a statement is reached, as far as that is known."""
        function = self.function_of(self.scope)
        loop = self.loops[-1] if self.loops else None
        given = settled(loop or function, step).get(name)
        if given is not None:
            return joined(map(self.of, given))
        given_to = parameters(function) if loop is None and isinstance(function, Function) else []
        if name in {one.arg for one in given_to}:
            return self.marks.get(("given", function, name), Value())
        return self.marks.get((function, name), Value())

    def is_own(self, name: str) -> bool:
        """Whether a name is that of the call alone."""
        owner = self.names.owner(self.scope, name)
        return not isinstance(owner, ast.Module | ast.ClassDef | None) and self.function_of(
            owner
        ) is self.function_of(self.scope)

    def several(self, key: Foreign, node: ast.expr | None, step: Foreign) -> bool:
        """Note what a statement puts into a container; whether what was put there may be different things."""
        self.puts.setdefault(key, set()).add(self.text_of(node, step))
        return len(self.puts[key]) > 1

    def text_of(self, node: ast.expr | None, step: Foreign) -> str:
        """What tells an expression from others: its text, and where it stands if its names may change."""
        if node is None:
            return ""
        steady = all(
            self.is_steady(part.id)
            if isinstance(part, ast.Name)
            else isinstance(part, ast.Constant | ast.Tuple | ast.expr_context)
            for part in ast.walk(node)
        )
        return ast.dump(node) if steady else f"{ast.dump(node)} {where(step)}"

    def is_steady(self, name: str) -> bool:
        """Whether a name is given something in one place only, as far as the function around it shows."""
        stored, otherwise = self.bindings(name)
        return len(stored) + otherwise < 2

    def bindings(self, name: str) -> tuple[list[ast.Name], bool]:
        """Where the function around, or one inside, sets a name, and whether it is bound otherwise, too."""
        inside = walk(self.function_of(self.scope))
        named = [one for one in inside if isinstance(one, ast.Name) and one.id == name]
        kinds = ("arg", "name", "asname", "rest")
        otherwise = any(getattr(one, kind, None) == name for one in inside for kind in kinds)
        return [one for one in named if not isinstance(one.ctx, ast.Load)], otherwise

    def renewed(
        self, steps: Iterable[ast.stmt], otherwise: Iterable[ast.stmt], *tests: ast.expr
    ) -> frozenset[str]:
        """Names of which nothing is left from before a choice, whichever statements it chooses.

        Those that both sides set, that only these statements read after they have set them, and those that a
        maximum or the like is kept in, which is compared with it.
        """
        steps, function = [*steps], self.function_of(self.scope)
        if any(_is_kept(test, step) for test in tests for step in steps):
            return frozenset(names_always_set(steps))
        inside = {id(node) for step in steps for node in walk(step)}
        outer = {
            node.id
            for node in walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside
        }
        begun = {name for name in _begun(steps) - outer if self.is_own(name)}
        return frozenset((names_always_set(steps) & names_always_set(otherwise)) | begun)


def _is_kept(test: ast.expr, step: Foreign) -> bool:
    """Whether a statement keeps the larger, or smaller, of two that a test compares."""
    pairs: list[Foreign] = [(target, step.value) for target in getattr(step, "targets", ())]
    pairs += [pair for sides in pairs for pair in zip(*(getattr(s, "elts", ()) for s in sides), strict=False)]
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
    asked = [part for part in parts if ast.unparse(part)[-8:] != " is None"]  # whether there was one before
    sides = [[getattr(part, "left", part), *getattr(part, "comparators", ())] for part in asked]
    compared = [{*map(ast.unparse, several)} for several in sides]
    return len(compared) == 1 and compared[0] in [{*map(ast.unparse, several)} for several in pairs]


def _begun(steps: list[ast.stmt]) -> set[str]:
    """Names that statements set before they read them."""
    found, read = set[str](), set[str]()
    for step in steps:
        value = getattr(step, "value", None) if isinstance(step, ast.Assign | ast.AnnAssign) else None
        value = step.iter if isinstance(step, ast.For) else value
        targets = [*getattr(step, "targets", ()), getattr(step, "target", None)] if value is not None else []
        read |= names_in(value or step, ast.Load) - found
        found |= {one.id for target in targets for one in _plain(target)} - read
        if isinstance(step, ast.For):
            read |= names_in(step, ast.Load) - found
    return found


def _plain(target: ast.expr | None) -> Iterator[ast.Name]:
    """Names that are set as a whole."""
    for one in getattr(target, "elts", [target]):
        if isinstance(one, ast.Name):
            yield one
