"""Which branches of the traced code no run has taken: what stands behind them was not looked at.

A branch counts as taken both ways, or not at all if its condition follows from constants, from the shape of
the rewards and from what is computed of these, or if only an exception waits on the other side.
"""

from __future__ import annotations

import ast
import dis
import functools
import itertools
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from verifiable_dp.evidence.symbolic.terms import Unbounded
from verifiable_dp.evidence.tracing.ledger import Place

_MOST_STEPS = 2_000_000
_PLAIN = (int, float, str, bool, type(None), tuple)
_CALLS = frozenset(
    ("len", "range", "min", "max", "abs", "int", "float", "bool", "isinstance", "round", "sum")
)
_CONSTANT_ARGUMENTS = frozenset(
    ("n_arms", "k", "K", "horizon", "T", "epsilon", "eps", "delta", "n_rounds", "num_arms", "rewards", "rng")
)


@dataclass
class Coverage:
    """Steps between instructions that runs have taken.

    Attributes
    ----------
    files
        Of the traced code.
    steps
        By code object, pairs of offsets.
    left
        Instructions that the run under way may still take: what is forced may never come to an end.
    """

    files: frozenset[str]
    steps: dict[types.CodeType, set[tuple[int, int]]] = field(default_factory=dict)

    left: int = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note the steps of what runs inside."""
        outer, self.left = sys.gettrace(), _MOST_STEPS
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(outer)

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        steps, last = self.steps.setdefault(code, set()), -1

        def stepped(frame: Any, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "opcode":
                self.left -= 1
                if self.left < 0:
                    raise Unbounded("a run takes too many steps to be followed")
                steps.add((last, frame.f_lasti))
                last = frame.f_lasti
            return stepped

        return stepped

    def missed(self, scopes: Mapping[str, dict[str, Any]], *, strict: bool) -> list[Place]:
        """Lines with a branch that was taken one way only.

        If not `strict`, a loop need not come to its end where what follows it was reached by a break.
        """
        found = set()
        for code, steps in self.steps.items():
            for line, position in _one_sided(code, steps, strict):
                if not _constant(code, position, scopes.get(code.co_filename, {})):
                    found.add(Place(code.co_filename, line))
        return sorted(found, key=lambda place: (place.file, place.line))


def _one_sided(code: types.CodeType, steps: set[tuple[int, int]], strict: bool) -> Iterator[tuple[int, Any]]:
    """Line and position of the branches that were taken one way only."""
    instructions = list(dis.get_instructions(code))
    following = {a.offset: b.offset for a, b in itertools.pairwise(instructions)}
    after: dict[int, set[int]] = {}
    for last, offset in steps:
        after.setdefault(last, set()).add(offset)
    for step in instructions:
        if step.offset not in after or not (
            ("JUMP" in step.opname and "IF" in step.opname) or step.opname == "FOR_ITER"
        ):
            continue
        jumped = step.argval in after[step.offset]
        fell = bool(after[step.offset] - {step.argval})
        broken = step.opname == "FOR_ITER" and any(offset == step.argval for _, offset in steps)
        if fell and (jumped or (broken and not strict)):
            continue
        other = following.get(step.offset, -1) if jumped else step.argval
        if _raises(instructions, other):
            continue
        positions = step.positions
        yield (positions.lineno if positions and positions.lineno else code.co_firstlineno), positions


def _raises(instructions: list[Any], offset: int) -> bool:
    """Whether from here on nothing but an exception can come."""
    for step in instructions:
        if step.offset < offset:
            continue
        if step.opname == "RAISE_VARARGS":
            return True
        if "JUMP" in step.opname or step.opname.startswith(
            ("RETURN", "STORE", "FOR_ITER", "YIELD", "RERAISE")
        ):
            return False
    return False


# ---------------------------------------------------------------- conditions that are constant


def _constant(code: types.CodeType, position: Any, scope: Mapping[str, Any]) -> bool:
    """Whether the condition at a position is the same in every run."""
    try:
        tree = _tree(code.co_filename)
    except (OSError, SyntaxError, ValueError):
        return False
    function = next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.Lambda)
            and _first_line(node) == code.co_firstlineno
            and getattr(node, "name", "<lambda>") == code.co_name
        ),
        None,
    )
    if function is None or position is None:
        return False
    where = (position.lineno, position.col_offset, position.end_lineno, position.end_col_offset)
    found = [node for node in ast.walk(function) if _where(node) == where]
    changing = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    scope = {name: value for name, value in scope.items() if name not in changing}
    known = _known_names(function, scope)
    tests = [
        node.iter if isinstance(node, ast.For) else node
        for node in ast.walk(function)
        if isinstance(node, ast.For) and _where(node.iter) == where
    ]
    nodes = [node for node in (*found, *tests) if isinstance(node, ast.expr)]
    return bool(nodes) and all(_is_known(node, known, scope) for node in nodes)


@functools.lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module:
    with open(file, encoding="utf-8") as text:
        return ast.parse(text.read())


def _first_line(node: Any) -> int:
    found: int = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return found


def _where(node: Any) -> Any:
    return tuple(
        getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
    )


def _known_names(function: Any, scope: Mapping[str, Any]) -> set[str]:
    """Local names that hold the same in every run: the largest set that bears itself out."""
    arguments = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    assigned = list(_assigned(function, []))
    known = {name for name, _, _ in assigned} | (arguments & _CONSTANT_ARGUMENTS)
    known -= arguments - _CONSTANT_ARGUMENTS
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            known -= set(node.names)  # it may hold something else in the next run
    while True:
        lost = {
            name
            for name, values, conditions in assigned
            if name in known and not all(_is_known(v, known, scope) for v in (*values, *conditions))
        }
        if not lost:
            return known
        known -= lost


def _assigned(node: Any, conditions: list[Any]) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Names that are assigned, with the values, and the conditions around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            if hasattr(child, "name"):
                yield child.name, [ast.Yield()], conditions
            continue
        around = conditions
        if isinstance(child, ast.If | ast.While):
            around = [*conditions, child.test]
        elif isinstance(child, ast.For):
            around = [*conditions, child.iter]
            for name in _names(child.target):
                yield name, [child.iter], conditions
        elif isinstance(child, ast.Try | ast.With):
            around = [*conditions, ast.Yield()]
        if isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            values = [child.value] if child.value is not None else []
            for target in targets:
                for name in _names(target):
                    yield name, values, around
        elif isinstance(child, ast.comprehension):
            for name in _names(child.target):
                yield name, [child.iter], around
        yield from _assigned(child, around)


def _names(target: Any) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _is_known(node: Any, known: set[str], scope: Mapping[str, Any]) -> bool:
    """Whether an expression is the same in every run."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        if node.id in ("rewards", "rng"):
            return False
        if node.id in known:
            return True
        return node.id in scope and isinstance(scope[node.id], _PLAIN)
    if isinstance(node, ast.Attribute):
        return (
            node.attr in ("shape", "ndim") and isinstance(node.value, ast.Name) and node.value.id == "rewards"
        )
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and (node.func.id in _CALLS)
        shape = named and ast.unparse(node.func) == "len" and ast.unparse(node.args[0]) == "rewards"
        pure = isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith("math.")
        return shape or (
            (named or pure) and not node.keywords and all(_is_known(a, known, scope) for a in node.args)
        )
    if isinstance(node, ast.Compare) and ast.unparse(node.left) in ("rewards", "rng"):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
    allowed = (
        ast.BinOp,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Tuple,
        ast.IfExp,
        ast.Subscript,
    )
    if not isinstance(node, allowed):
        return False
    parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return all(_is_known(child, known, scope) for child in parts)
