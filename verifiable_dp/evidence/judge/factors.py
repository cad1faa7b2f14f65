"""Which numbers are above 0, and which sums are a sum divided by one of them.

``x / n + g.laplace(0, s / n)`` has the law of ``(x + g.laplace(0, s)) / n`` for every n above 0: noise of
scale s / n is noise of scale s, over n. So n weighs what noise hides, and does not say how much of it there
is. It has to be one number on both sides: a name that is given one meaning in its function.

A number is above 0 if it is one constant that is, a sum, product, quotient or power of such numbers, or the
largest of several with one of them, and so is all that is ever stored where it is read: `doubtful` are names,
attributes and containers that may hold anything else.
"""

from __future__ import annotations

import ast
from collections import Counter

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.flow import Function
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.judge.places import Places

_KEPT = (ast.Add, ast.Mult, ast.Div, ast.Pow)
_SCALED = ("laplace", "normal", "logistic", "gumbel")  # around 0, and as wide as the second argument says


class Factors(Places):
    """Follows what both sides of a sum are divided by."""

    def above(self, node: Foreign) -> bool:
        """Whether a number, or all that a container holds, is above 0."""
        if isinstance(node, ast.Constant):
            value: Foreign = node.value
            return type(value) in (int, float) and bool(value > 0)
        if isinstance(node, ast.Name):
            owner = self.names.owner(self.scope, node.id)
            key = owner, node.id
            return isinstance(owner, Function) and not {key} & (self.doubtful | self.names.held.keys())
        if isinstance(node, ast.Attribute):
            objects = all(kind == "instance" for kind, _ in self.of(node.value).own)
            stored = node.attr in self.kept and ("attribute", node.attr) not in self.doubtful
            return objects and stored and not self.has_before(node.attr)
        if isinstance(node, ast.Subscript):
            return self.above(node.value)
        if isinstance(node, ast.List):
            return all(map(self.above, node.elts))
        if isinstance(node, ast.BinOp):
            several = isinstance(node.left, ast.List)
            both = self.above(node.left) and (several or self.above(node.right))
            return both and isinstance(node.op, _KEPT)
        own = self.of(node.func).own if isinstance(node, ast.Call) and not node.keywords else frozenset()
        largest = [self.names.objects[ref] is max for kind, ref in own if kind == "library"]
        return 0 < sum(largest) == len(own) and len(node.args) > 1 and any(map(self.above, node.args))

    def has_before(self, name: str) -> bool:
        """Whether objects may have something of this name that no statement gave them."""
        classes = [one for found in self.names.classes.values() for one in found]
        held = name in self.names.attributes or name in self.names.methods
        return held or any(name in self.names.local[one] or one.keywords for one in classes)

    def note_factors(self, node: ast.BinOp) -> None:
        """Note operations and draws that do no more than divide both sides of a sum by the same."""
        one, other = self.over(node.left), self.over(node.right)
        if one is not None and other is not None and one[0] == other[0]:
            found = {(self.names.home[self.scope], at) for at in one[1] | other[1]}
            self.divided |= found if found & self.drawn_at else set()

    def over(
        self, node: Foreign, *, scale: bool = False, part: bool = False
    ) -> tuple[Counter[str], set[tuple[int, ...]]] | None:
        """Powers of names that vary which a number is a multiple of, and where; None if that is unknown.

        Of a scale nothing else may vary, and no part of a product may be noise: it may have a peak.
        """
        if node is None:  # the usual scale
            return Counter(), set()
        value, here = self.of(node), where(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            one, other = (self.over(side, scale=scale, part=True) for side in (node.left, node.right))
            if one is None or other is None:
                return None
            powers = Counter(one[0])
            (powers.update if isinstance(node.op, ast.Mult) else powers.subtract)(other[0])
            return Counter({name: n for name, n in powers.items() if n}), one[1] | other[1] | {here}
        if isinstance(node, ast.Call) and (self.names.home[self.scope], here) in self.drawn_at:
            given = dict(enumerate(node.args)) | {word.arg: word.value for word in node.keywords}
            loc, wide = (given.pop(at, given.pop(name, None)) for at, name in enumerate(("loc", "scale")))
            still = loc is None or (isinstance(loc, ast.Constant) and loc.value == 0)
            alone = still and not any(self.of(part).varies for part in given.values())
            found = self.over(wide, scale=True) if alone and node.func.attr in _SCALED else None  # type: ignore[attr-defined]
            return found and (found[0], found[1] | {here})
        if not value.bare:
            return None if value.varies and (scale or (part and value.noisy)) else (Counter(), set())
        owner = self.names.owner(self.scope, node.id) if isinstance(node, ast.Name) else None
        single = isinstance(owner, Function) and self.once(owner, node.id) and self.above(node)
        return (Counter({node.id: 1}), set()) if single else None
