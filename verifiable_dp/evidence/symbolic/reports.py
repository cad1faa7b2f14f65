"""Reports of the local model: what noise has hidden of one reward leaves its user, and everybody sees it.

The claim: no set of values of the reports of one reward is more than e^epsilon times as likely for another
reward. The bound: (1) where a statement, a call or a comparison takes a number in which noise hides data,
that number is shown, so the run shows all that leaves a user, however it is stored, and what its actions are
made of then. (2) Whatever is shown or decided, coins included, follows from the data of one unit; else there
is no bound. Say S and S' differ in one reward. What is shown before it is reported does not follow from it.
Given that, its report is a mechanism of this one reward, whose public parameters may follow from what was
shown; all later numbers are functions of what was shown, of other rewards and of fresh noise. So the losses
of one run on S and S' are those of the reports of this reward, and the judge's bound on all that a run shows
bounds them, together and each by itself. What the code makes of reports later is a function of what was
shown, and costs nothing. Raw rewards that reach the actions in any other way end the bound, as always.
"""

from __future__ import annotations

import ast

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import boxes
from verifiable_dp.evidence.symbolic.source import called_here
from verifiable_dp.evidence.symbolic.terms import is_term
from verifiable_dp.evidence.symbolic.world import World


def reported(world: World, value: Foreign) -> Foreign:
    """The same, of which every number that noise hides is shown."""
    kind = type(value)
    if kind is dict:
        reported(world, [*value.values()])
    elif kind in (list, tuple):
        for part in value:
            reported(world, part)
    elif kind is boxes.Box:
        reported(world, [*value.data.flat] if value.known is None else ())
    elif is_term(value) and value.noise and any(value.raw.values()) and world.oracle is None:
        value.public("raw {data} are reported")
    return value


class Reporting(ast.NodeTransformer):
    """Hands what statements, calls and comparisons take to `reported`."""

    def visit_Call(self, node: ast.Call) -> Foreign:
        """What a call is given, and what it gives."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "at":
            raise ValueError("np.add.at changes an array and does not return it")
        self.generic_visit(node)
        node.args = list(map(_shown, node.args))
        for word in node.keywords:
            word.value = _shown(word.value)
        return _shown(node)

    def visit_Lambda(self, node: ast.Lambda) -> Foreign:
        """What it returns."""
        self.generic_visit(node)
        node.body = _shown(node.body)
        return node

    def _makes(self, node: Foreign) -> Foreign:
        """What a comprehension makes, one by one."""
        self.generic_visit(node)
        node.elt = _shown(node.elt)
        return node

    visit_GeneratorExp = visit_ListComp = visit_SetComp = _makes

    def _turns(self, node: Foreign) -> Foreign:
        """What a loop goes through."""
        self.generic_visit(node)
        node.iter = _shown(node.iter)
        return node

    visit_For = visit_comprehension = _turns

    def visit_AugAssign(self, node: ast.AugAssign) -> Foreign:
        """What is there then."""
        self._stores(node)
        there: Foreign = node.target
        if isinstance(there, ast.Subscript) and _calls(there.slice):
            there = there.value
        if _calls(there):
            raise ValueError("the changed array cannot be named again")
        loaded = ast.parse(ast.unparse(there), mode="eval").body
        return [node, ast.copy_location(ast.Expr(_shown(loaded)), node)]

    def visit_Compare(self, node: ast.Compare) -> Foreign:
        """What is compared."""
        self.generic_visit(node)
        if not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):  # which `calls.identical` asks
            node.left, node.comparators = _shown(node.left), list(map(_shown, node.comparators))
        return node

    def _stores(self, node: Foreign) -> Foreign:
        """What is stored, returned or yielded."""
        self.generic_visit(node)
        if node.value is not None:
            node.value = _shown(node.value)
        return node

    visit_Assign = visit_AnnAssign = visit_Return = visit_NamedExpr = visit_Yield = _stores


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call | ast.NamedExpr | ast.Await | ast.Yield) for part in ast.walk(node))


def _shown(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Starred):
        node.value = _shown(node.value)
    if isinstance(node, ast.Starred | ast.Constant):
        return node
    return ast.copy_location(called_here("reported", node), node)
