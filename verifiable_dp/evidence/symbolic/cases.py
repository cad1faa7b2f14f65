"""Source text as a tree in which ``match`` statements are chains of ``if``, which do the same.

What follows conditions then follows cases too. Only values, None, alternatives, names, the wildcard and
tuples of these against a tuple are written as conditions; a statement with any other pattern stays.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from verifiable_dp.evidence.symbolic.terms import PREFIX


def parsed(text: str) -> ast.Module:
    """The tree of a file; raises SyntaxError and ValueError as `ast.parse` does."""
    tree = ast.parse(text)
    has_cases = any(isinstance(node, ast.Match) for node in ast.walk(tree))
    return ast.fix_missing_locations(_Cases().visit(tree)) if has_cases else tree


class _Cases(ast.NodeTransformer):
    """Writes each statement as conditions on what is matched, which has a name then."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def visit_Match(self, node: ast.Match) -> Any:
        """The statement, after those inside it."""
        self.generic_visit(node)
        subject = node.subject
        parts = subject.elts if isinstance(subject, ast.Tuple) else [subject]
        names = [f"{PREFIX}subject_{next(self._numbers)}" for _ in parts]
        rest: list[ast.stmt] = []
        for case in reversed(node.cases):
            found = _asked(case.pattern, names if isinstance(subject, ast.Tuple) else names[0])
            if found is None or any(isinstance(part, ast.Starred) for part in parts):
                return node
            tests, kept = found
            if tests and kept and case.guard is not None:
                return node  # names are set before the guard is asked
            rest = _chain(case, tests, kept, rest)
        made = [ast.Assign([ast.Name(n, ast.Store())], part) for n, part in zip(names, parts, strict=True)]
        return [*(ast.copy_location(step, step.value) for step in made), *rest]


def _chain(
    case: ast.match_case, tests: list[ast.expr], kept: list[ast.stmt], rest: list[ast.stmt]
) -> list[ast.stmt]:
    """A case, and where it does not hold the rest."""
    tests = tests if case.guard is None else [*tests, case.guard]
    if not tests:
        return [*kept, *case.body]
    test = tests[0]
    if len(tests) > 1:
        test = _between(ast.BoolOp(ast.And(), tests), tests[0], tests[-1])
    body = case.body if case.guard is not None and len(tests) == 1 else [*kept, *case.body]
    branch = _between(ast.If(test, body, rest), test, case.body[-1])
    return [*kept, branch] if body is case.body else [branch]


def _between(made: Any, first: ast.AST, last: ast.AST) -> Any:
    """A node that stands where others do."""
    ast.copy_location(made, first)
    made.end_lineno, made.end_col_offset = last.end_lineno, last.end_col_offset  # type: ignore[attr-defined]
    return made


def _asked(pattern: ast.pattern, names: Any) -> tuple[list[ast.expr], list[ast.stmt]] | None:
    """What holds if a pattern fits what these names hold, and what is named then; None if it is not known."""
    if isinstance(names, list):
        fits = isinstance(pattern, ast.MatchSequence) and len(pattern.patterns) == len(names)
        if not fits:
            whole = isinstance(pattern, ast.MatchAs) and pattern.name is None
            return ([], []) if whole else None
        found = [_asked(p, n) for p, n in zip(pattern.patterns, names, strict=True)]  # type: ignore[attr-defined]
        if any(part is None for part in found):
            return None
        return [t for part in found if part for t in part[0]], [k for part in found if part for k in part[1]]
    value = ast.copy_location(ast.Name(names, ast.Load()), pattern)
    if isinstance(pattern, ast.MatchValue):
        return [ast.copy_location(ast.Compare(value, [ast.Eq()], [pattern.value]), pattern)], []
    if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
        nothing = ast.copy_location(ast.Constant(None), pattern)
        return [ast.copy_location(ast.Compare(value, [ast.Is()], [nothing]), pattern)], []
    if isinstance(pattern, ast.MatchOr):
        sides = [_asked(part, names) for part in pattern.patterns]
        if any(side is None or side[1] or len(side[0]) != 1 for side in sides):
            return None
        tests = [side[0][0] for side in sides if side]
        return [ast.copy_location(ast.BoolOp(ast.Or(), tests), pattern)], []
    if isinstance(pattern, ast.MatchAs):
        inside = ([], []) if pattern.pattern is None else _asked(pattern.pattern, names)
        if inside is None or pattern.name is None:
            return inside
        kept = ast.Assign([ast.Name(pattern.name, ast.Store())], value)
        return inside[0], [*inside[1], ast.copy_location(kept, pattern)]
    return None
