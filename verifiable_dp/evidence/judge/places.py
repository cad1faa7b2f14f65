"""Which entry of a table is read at a place, and whose entries an expression may share."""

from __future__ import annotations

import ast

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.chances import GROWN
from verifiable_dp.evidence.judge.flow import COMPREHENSION, names_in
from verifiable_dp.evidence.judge.loops import Loops
from verifiable_dp.evidence.judge.marks import Root
from verifiable_dp.evidence.judge.values import ANY, PUBLIC, STEEP, Value

_OF_NUMBERS = (ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift, ast.MatMult)  # no container has them
SHAPES = ("shape", "size", "ndim")


class Places(Loops):
    """Follows what is read at places."""

    def around(self, node: ast.expr) -> Value:
        """What a container may be, as far as its own entries go: which there are, not what is in them."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return self.of(node)
        self.looked = self.outermost
        found = self.of(node)
        self.looked = self.marks
        return found

    def is_fixed(self, node: ast.expr | None, at: Value) -> bool:
        """Whether a place may be the same in all runs; what calls give is known when all else is."""
        keys = {self.key(name) for name in names_in(node, ast.Load)} if node is not None else set()
        if self.placed:
            return not at.level or not keys.isdisjoint(self.given_public)
        return not at.level and not at.turn and keys.isdisjoint(self.given_at)

    def thinned(self, value: Value) -> bool:
        """Whether it holds noise alone, of which chance leaves out some, and maybe all."""
        return value.noisy and not value.raw and GROWN in value.passed

    def entry(self, node: Foreign, table: Value, at: Value) -> Value:
        """What a table holds at a position."""
        base = node.value if isinstance(node, ast.Subscript) else None
        outer = table if base is None or isinstance(node.slice, ast.Tuple) else self.around(base)
        outer = table._replace(rough=outer.rough)
        found = outer.entry(at)._replace(rough=table.rough)
        if at.draws and not table.data:
            found = found._replace(draws=max(found.draws, at.draws))
        if found.level > table.level:  # the place says which it is
            found = found._replace(tossed=found.tossed or at.tossed, raw=found.raw or at.raw)
        if outer.unlike >= STEEP:
            found = self.selected(node, found, at)
        if not at.level:
            apart = GROWN in table.passed  # chance says what stands where
        else:
            apart = outer.unlike > PUBLIC and max(outer.unlike, at.level) >= STEEP
            apart = apart or (table.noisy and not table.raw)  # it may be taken twice
            apart = apart or (table.raw and at.by_chance and not (at.turn or table.turn))
        if table.data and apart:
            self.picks(node, outside.TAKEN)
        return found

    def roots(self, node: Foreign) -> set[Root]:
        """Whose entries an expression may share."""
        if isinstance(node, ast.Name):
            known = any(kind == "library" for kind, _ in self.of(node).own)
            return set() if known or self.names.is_plain(self.scope, node.id) else {Root(self.key(node.id))}
        if isinstance(node, ast.Attribute):
            if node.attr in SHAPES and self.stored(node.attr) is None and node.attr not in self.kept:
                return set()
            plain = not self.of(node.value).things - {ANY}
            return {Root(("attribute", node.attr))} | (self.roots(node.value) if plain else set())
        if isinstance(node, ast.Call):
            return self.roots_of_call(node)
        if isinstance(node, ast.Subscript):
            found = self.roots(node.value)
            if isinstance(node.slice, ast.Slice):
                return found
            fixed = self.placed and self.of(node.slice).level == PUBLIC
            return {root.entry(fixed=fixed) for root in found}
        if isinstance(node, ast.Starred):
            return {root.entry() for root in self.roots(node.value)}
        if isinstance(node, ast.IfExp):
            return self.roots(node.body) | self.roots(node.orelse)
        if isinstance(node, ast.BinOp):  # of two lists, the entries of both
            if isinstance(node.op, _OF_NUMBERS):
                return set()
            return {root.copied() for part in (node.left, node.right) for root in self.roots(part)}
        before, self.scope = self.scope, node if isinstance(node, COMPREHENSION) else self.scope
        last = getattr(node, "elt", None) or getattr(node, "value", None)
        parts = getattr(node, "elts", None) or getattr(node, "values", None) or [last]
        found = {root for part in parts if isinstance(part, ast.expr) for root in self.roots(part)}
        self.scope = before
        return found if isinstance(node, ast.BoolOp) else {root.inside() for root in found}

    def roots_of_call(self, node: ast.Call) -> set[Root]:
        """As `roots`, of what a call gives: what it returns, or parts of what a library is given."""
        telling, self.telling = self.telling, False
        callees = self.of(node.func).own
        self.telling = telling
        found = {Root((ref, "return of")) for kind, ref in callees if kind in ("function", "method")}
        known = [self.names.objects[ref] for kind, ref in callees if kind == "library"]
        unknown = self.firm and not callees and not isinstance(node.func, ast.Attribute)
        if unknown or not all(map(values.is_fresh, known)):
            plain = not any(word.arg in ("copy", None) for word in node.keywords)  # else it may be the same
            copied = plain and all(values.same(one, values.COPIES) for one in known)
            given = [*node.args, *(word.value for word in node.keywords)]
            shared = {root for part in given for root in self.roots(part)}
            deeper = set() if copied else {root.entry() for root in shared}  # as `sum` of lists
            found |= {root.copied() if copied else root for root in shared} | deeper
        if isinstance(node.func, ast.Attribute) and not known:
            name, parts = node.func.attr, self.roots(node.func.value)
            parts = {root.copied() for root in parts} if name == "copy" else parts
            parts = {root.entry() for root in parts} if name in values.LOOKS_UP else parts
            found |= parts if name in values.SHARED or name not in values.METHODS else set()
        return found
