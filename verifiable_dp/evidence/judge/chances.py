"""What chance chooses again and again: what it leaves of a first choice is in fewer runs than are looked at.

A choice is a place where chance alone says which of several contents goes on: a condition around what sets a
name, a container or an attribute, a choice between two, a return, an entry at a drawn place. Each content
knows the choices that it came through (`Value.passed`). One that comes through the same choice again, in
another turn or call, or through `_SELDOM` of them, may be left in too few runs to be seen: of data and noise
that ends the bound, and any other number may be special for rare draws from there on.

The values of names are joined over the order of statements, so what a name holds after a choice seems to be
there before it, unless both sides of a condition set it (`names_always_set`).
"""

from __future__ import annotations

import ast

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside
from verifiable_dp.evidence.judge.flow import COMPREHENSION, Function, bound, name_of
from verifiable_dp.evidence.judge.marks import Marks, where
from verifiable_dp.evidence.judge.trees import walk
from verifiable_dp.evidence.judge.values import SMOOTH, STEEP, Value

_SELDOM = 6  # choices that all fall one way in fewer runs than there are paths

_HOLDING = ("instance", "function", "method", "applied")  # may hold data and noise
LOTTERY = ("lottery", None)  # a tuple that begins with a draw, so that draws sort such tuples
GROWN = ("grown", None)  # what is in a container to which chance adds or not, time after time


class Chances(Marks):
    """Follows what chance chooses."""

    def selected(self, node: Foreign, value: Value, test: Value, others: int = 0) -> Value:
        """What a draw has chosen here, by a test, where so many `others` choose from the same."""
        if not test.by_chance:
            return value
        site = ("choice", node)
        depth = min(value.depth + (site not in value.passed), _SELDOM)
        again = site in value.passed and self.repeated()
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
        for site, raw, kept in self.context.chance:
            if name not in kept and not (own and isinstance(site, Function)):
                known = self.marks.get(key, Value())
                sites, test = self.replaced.setdefault(key, set()), Value(SMOOTH, tossed=True, raw=raw)
                sites |= set() if raw else {site}
                self.add(key, self.selected(site, known, test, len(sites)), above=True)

    def replaces_in(self, container: ast.expr) -> None:
        """Something in a container is changed here."""
        base = container
        while isinstance(base, ast.Subscript | ast.Call):
            base = base.value if isinstance(base, ast.Subscript) else base.func
        for root in self.roots(container) if self.context.chance else ():
            self.replaces(root.key, name_of(base))

    def is_own(self, name: str) -> bool:
        """Whether a name is that of the call alone."""
        owner = self.names.owner(self.scope, name)
        return not isinstance(owner, ast.Module | ast.ClassDef | None) and self.function_of(
            owner
        ) is self.function_of(self.scope)

    def once(self, scope: ast.AST, name: str) -> bool:
        """Whether a name is given a meaning in one place only, as far as the text of its scope shows."""
        return sum(name in bound(part) for part in walk(scope)) == 1

    def several(self, key: Foreign, step: Foreign) -> bool:
        """Note where something is put into a container; whether other statements put something there, too."""
        self.puts.setdefault(key, set()).add(where(step))
        return len(self.puts[key]) > 1
