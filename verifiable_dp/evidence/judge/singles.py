"""What is one number wherever it is read: of objects that a draw chooses, each has the same one.

Such are constants, names, attributes and parameters that are given such a number wherever they are given any,
by one expression of one function, and what arithmetic makes of these. A draw may say whether such a
statement runs, or of which object the number is read: it is the same one, or there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.flow import Function, parameters
from verifiable_dp.evidence.judge.marks import Assigned
from verifiable_dp.evidence.judge.places import Places
from verifiable_dp.evidence.judge.values import Value

_MAKING = ("__getattr__", "__getattribute__")  # which make attributes that nothing sets
_SETTING = ("arg", "name", "asname", "rest")  # how nodes name what they bind without an assignment


class Singles(Places):
    """Follows what is set in one place."""

    def comes(self, key: Foreign, place: Foreign, node: ast.expr | None) -> None:
        """Note what a parameter or an attribute is given at a place."""
        known = self.sources.setdefault(key, {})
        if place not in known:
            known[place] = Assigned(node, self.scope)
            self.changed = True

    def single(self, node: Foreign, scope: Foreign) -> bool:
        """Whether an expression is the same number in every run, whenever it is computed."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        if node in self.looked:  # it is made of itself
            return False
        self.looked.add(node)
        try:
            return self.is_single(node, scope)
        finally:
            self.looked.remove(node)

    def is_single(self, node: Foreign, scope: Foreign) -> bool:
        """As `single`, by form."""
        if isinstance(node, ast.Name):
            owner: Foreign = self.names.owner(scope, node.id)
            outer = owner is None or isinstance(owner, ast.Module)
            return self.constant(scope, node.id) if outer else self.single_name(owner, node.id)
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name) and self.single_attribute(node.attr)
        if isinstance(node, ast.BinOp):
            return self.single(node.left, scope) and self.single(node.right, scope)
        return isinstance(node, ast.UnaryOp) and self.single(node.operand, scope)

    def single_name(self, owner: Foreign, name: str) -> bool:
        """As `single`, of a name of a function."""
        if not isinstance(owner, Function):
            return False
        if name not in {one.arg for one in parameters(owner)}:
            given = self.assigned(owner, name)
            return given is not None and len(given) == 1 and self.single(given[0], owner)
        stored = (one for one in ast.walk(owner) if isinstance(one, ast.Name) and one.id == name)
        if any(not isinstance(one.ctx, ast.Load) for one in stored):
            return False
        found, calls = self.sources.get((owner, name), {}), self.callers.get(owner, set())
        if not calls:  # what is given once, before the run
            return owner not in self.repeats and self.marks.get((owner, name), Value()) == Value()
        every = {call for call, _ in found} == calls and owner not in self.filled_in
        return every and self.single_of(found.values())

    def constant(self, scope: Foreign, name: str) -> bool:
        """As `single`, of a name of a file, which no function sets."""
        file = self.names.files[self.names.home[scope]]
        outer = (one.names for one in ast.walk(file.tree) if isinstance(one, ast.Global))
        plain = isinstance(file.scope.get(name), int | float)
        return plain and not any(name in names for names in outer)

    def single_attribute(self, name: str) -> bool:
        """As `single`, of an attribute of objects of the user's."""
        found = self.sources.get(("attribute", name), {})
        elsewhere = name in self.names.attributes or {name, *_MAKING} & self.names.methods.keys()
        return not elsewhere and self.single_of(found.values())

    def is_whole(self, kind: Foreign) -> bool:
        """Whether objects of a class have no attributes but those that the user's code gives."""
        made = self.names.kinds.get(kind)
        above = getattr(kind, "bases", ()) if made is None else made.__mro__[1:-1]
        return all(isinstance(one, type) and one in self.names.kinds.values() for one in above)

    def single_of(self, given: Iterable[Assigned]) -> bool:
        """As `single`, of what is given in several places: one expression in one scope."""
        each = {(one.node and ast.dump(one.node), one.scope): one for one in given}
        return len(each) == 1 and all(one.node and self.single(one.node, one.scope) for one in each.values())

    def assigned(self, function: Foreign, name: str) -> list[ast.expr] | None:
        """What a name of a function is assigned; None if it is bound otherwise, too."""
        inside = [*ast.walk(function)]  # functions inside may set it, too
        others = {getattr(one, kind, None) for one in inside for kind in _SETTING}
        named = [one for one in inside if isinstance(one, ast.Name) and one.id == name]
        stored = [one for one in named if not isinstance(one.ctx, ast.Load)]
        given = [one.value for one in inside if isinstance(one, ast.Assign) and one.targets[0] in stored]
        return given if name not in others and len(given) == len(stored) > 0 else None
