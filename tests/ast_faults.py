"""Faults by operator: every small edit of a syntax tree that a careless hand might make.

`faults_in` lists the edits of a tree or of a part of it. `tests.judges` applies them to the code of judges,
and `tests.fresh_faults` to the text of any module.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_EDGES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_NEGATED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SWAPPED = {
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
    "any": "all",
    "all": "any",
}
_SHARE = 0.05  # by how much a float is changed
_NUMBERS = ("float", "int", "FloatArray", "IntArray")
_SYMMETRIC = (  # in either order the same
    *("max", "min", "maximum", "minimum", "logaddexp", "array_equal", "isclose", "samestat", "dot"),
    *("fmax", "fmin", "logical_and", "logical_or", "equal", "allclose", "compare_digest"),
)


@dataclass(frozen=True)
class Edit:
    """One fault: the node that is replaced, and what replaces it.

    Attributes
    ----------
    operator
        Name of the kind of edit.
    line
        Of the node in its file.
    node, new
        The node of the tree that was given, and its replacement.
    """

    operator: str
    line: int
    node: ast.AST
    new: ast.AST

    @property
    def words(self) -> str:
        """The edit as a reader sees it, without its line, which moves."""
        return f"{_text(self.node)} -> {_text(self.new)}"

    def applied(self, tree: ast.AST) -> ast.AST:
        """A copy of the tree with the edit; the tree must contain the node itself."""
        memo = {id(self.node): copy.deepcopy(self.new)}
        return copy.deepcopy(tree, memo)


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def faults_in(tree: ast.AST, *, also: bool = False) -> list[Edit]:
    """All edits of a tree, in the order of its nodes.

    Parameters
    ----------
    tree
        A module or a function; annotations, decorators, defaults and f-strings are left as they are.
    also
        With the operators that are for whole programs: a dropped `not`, the sign of what is returned, two
        arguments swapped, a `raise` that is removed.
    """
    operators = (*_OF_JUDGES, *_OF_PROGRAMS) if also else _OF_JUDGES
    return [edit for node in _nodes(tree) for operator in operators for edit in operator(node)]


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may be edited, parents first; of a `return` it is noted whether it gives a number."""
    yield tree
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        for node in ast.walk(tree):
            if isinstance(node, ast.Return):
                node.counted = bool(tree.returns) and ast.unparse(tree.returns) in _NUMBERS  # type: ignore[attr-defined]
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(tree, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _nodes(child)


def _comparisons(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Compare):
        return
    for place, sign in enumerate(node.ops):
        for kind, table in (("edge", _EDGES), ("negated", _NEGATED)):
            other = table.get(type(sign))
            if other is not None:
                new = copy.deepcopy(node)
                new.ops[place] = other()
                yield Edit(f"comparison, {kind}", node.lineno, node, new)


def _connectives(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield Edit("and/or", node.lineno, node, ast.BoolOp(other, node.values))


def _largest(node: ast.AST) -> Iterator[Edit]:
    """`max` for `min` and `any` for `all`, called by name or as a method, or handed on as a value."""
    if isinstance(node, ast.Name) and node.id in _SWAPPED and isinstance(node.ctx, ast.Load):
        yield Edit("max/min, any/all", node.lineno, node, ast.Name(_SWAPPED[node.id], node.ctx))
    if isinstance(node, ast.Attribute) and node.attr in _SWAPPED and isinstance(node.ctx, ast.Load):
        new = ast.Attribute(node.value, _SWAPPED[node.attr], node.ctx)
        yield Edit("max/min, any/all", node.lineno, node, new)


def _constants(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return
    if isinstance(node.value, int):
        for step in (1, -1):
            yield Edit("constant", node.lineno, node, ast.Constant(node.value + step))
    if isinstance(node.value, float):
        for share in (_SHARE, -_SHARE):
            value = float(f"{node.value * (1 + share):.12g}") if node.value else share
            yield Edit("constant", node.lineno, node, ast.Constant(value))


def _negations(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield Edit("dropped not", node.lineno, node, node.operand)


def _signs(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Return) and node.value is not None and getattr(node, "counted", False):
        if isinstance(node.value, ast.Constant) and node.value.value == 0:
            return  # -0 is 0
        yield Edit("sign", node.lineno, node.value, ast.UnaryOp(ast.USub(), node.value))


def _arguments(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
        return
    if ast.unparse(node.func).rpartition(".")[2] in _SYMMETRIC:
        return
    if len(node.args) > 1 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        new = ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
        yield Edit("arguments swapped", node.lineno, node, new)


def _raises(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Raise):
        yield Edit("raise removed", node.lineno, node, ast.Pass())


Operator = Callable[[ast.AST], Iterator[Edit]]
_OF_JUDGES: tuple[Operator, ...] = (_comparisons, _connectives, _largest, _constants, _negations)
_OF_PROGRAMS: tuple[Operator, ...] = (_signs, _arguments, _raises)


def edited(source: str, edit: Edit) -> str:
    """The text of a file with an edit of its tree, all else as it stands."""
    lines = source.encode().splitlines(keepends=True)
    node = edit.node
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    new = ast.unparse(edit.new)
    new = f"({new})" if isinstance(edit.new, ast.UnaryOp | ast.BoolOp) else new
    return b"".join([*lines[:first], before, new.encode(), after, *lines[last + 1 :]]).decode()
