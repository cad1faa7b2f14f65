"""Source text as a tree in which ``match`` statements are chains of ``if``, which do the same.

Names that were imported from ``math`` are attributes of it there.

What follows conditions then follows cases too. Values, None, alternatives, names, the wildcard, tuples of
these and classes by keyword are written as conditions; a statement with any other pattern stays.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterable, Mapping

from verifiable_dp.core.validate import Foreign

PREFIX = "verifiable_dp__"  # of names that are put into the traced code


def parsed(text: str) -> ast.Module:
    """The tree of a file; raises SyntaxError and ValueError as `ast.parse` does."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    tree, has_cases = _by_module(tree, nodes), any(isinstance(node, ast.Match) for node in nodes)
    return ast.fix_missing_locations(_Cases(tree).visit(tree)) if has_cases else tree


def names_made(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that a file with these nodes gives a meaning by anything but imports, anywhere in it."""
    made = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            made |= set() if isinstance(node.ctx, ast.Load) else {node.id}
        elif not isinstance(node, ast.alias | ast.keyword):
            named = [getattr(node, at) for at in ("name", "arg", "rest") if at in node._fields]
            made |= {name for name in named if isinstance(name, str)}
    return made


def fits(value: Foreign, length: int | None) -> bool:
    """Whether cases that are sequences are asked for: a list or tuple of a length, or of any."""
    return isinstance(value, list | tuple) and (length is None or len(value) == length)


def _by_module(tree: ast.Module, nodes: list[ast.AST]) -> ast.Module:
    """The tree with ``math.exp`` for names that were imported from ``math`` and stand for nothing else."""
    made = names_made(nodes)
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    names: list[tuple[str, str]] = []
    for step in imports:
        of_math = isinstance(step, ast.ImportFrom) and step.module == "math" and step in tree.body
        for name in step.names:
            known = name.asname or name.name
            names += [(known, name.name)] if of_math else []
            made |= set() if of_math or (name.name == known == "math") else {known}
    if "math" in made or any(name == "*" for _, name in names):
        return tree
    fitting = {known: name for known, name in names if known not in made}
    return _OfMath(fitting).visit(tree) if fitting else tree


class _OfMath(ast.NodeTransformer):
    """Writes names as attributes of ``math``.

    Parameters
    ----------
    names
        What each of them is there.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The attribute, where the name is one of those."""
        if node.id not in self._names:
            return node
        module = ast.copy_location(ast.Name("math", ast.Load()), node)
        return ast.copy_location(ast.Attribute(module, self._names[node.id], ast.Load()), node)


class _Cases(ast.NodeTransformer):
    """Writes each statement as conditions on what is matched, which has a name then."""

    def __init__(self, tree: ast.Module) -> None:
        self._numbers = itertools.count()
        nodes = [*ast.walk(tree)]
        cases = [node for node in nodes if isinstance(node, ast.match_case)]
        inside: set[int] = set()
        for case in cases:
            parts = [*ast.walk(case.guard)] if case.guard else []
            parts += [part for step in case.body for part in ast.walk(step)]
            names = _captured(case.pattern)
            inside |= {id(part) for part in parts if isinstance(part, ast.Name) and part.id in names}
        # Names that are used elsewhere than in a case that sets them: it does so also where its guard fails.
        self._outside = {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in inside}
        self._usual = not names_made(nodes) & {"isinstance", "len", *_WHOLE}

    def visit_Match(self, node: ast.Match) -> Foreign:
        """The statement, after those inside it."""
        self.generic_visit(node)
        subject = node.subject
        parts = subject.elts if isinstance(subject, ast.Tuple) else [subject]
        names = [f"{PREFIX}subject_{next(self._numbers)}" for _ in parts]
        rest: list[ast.stmt] = []
        lengths = {*_lengths(node.cases)}
        whole = isinstance(subject, ast.Tuple)
        if not self._usual or (not whole and len(lengths) > 1 and -1 in lengths):
            return node
        sequence = not whole and bool(lengths) and -1 not in lengths
        reading = _Reading(sequence and len(lengths) > 1)
        otherwise: list[ast.stmt] = []
        for case in reversed(node.cases):
            if whole:
                found = reading.parts(case.pattern, [ast.Name(n, ast.Load()) for n in names])
            else:
                found = reading.asked(case.pattern, ast.Name(names[0], ast.Load()))
            if found is None or any(isinstance(part, ast.Starred) for part in parts):
                return node
            if found[0] and case.guard is not None and _captured(case.pattern) & self._outside:
                return node
            if sequence and not found[0] and not _lengths([case]):
                otherwise = _chain(case, *copy.deepcopy(found), otherwise)
            rest = _chain(case, *found, rest)
        if sequence:
            rest = [_if_sequence(names[0], lengths, node, rest, otherwise)]
        made = [ast.Assign([ast.Name(n, ast.Store())], part) for n, part in zip(names, parts, strict=True)]
        return [*(ast.copy_location(step, step.value) for step in made), *rest]


def _lengths(cases: list[ast.match_case]) -> list[int]:
    """Of the tuples that cases are; -1 for what is none."""
    found = []
    for case in cases:
        alternatives = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        for one in alternatives:
            one = one.pattern if isinstance(one, ast.MatchAs) and one.pattern is not None else one
            if not isinstance(one, ast.MatchAs):
                found.append(len(one.patterns) if isinstance(one, ast.MatchSequence) else -1)
    return found


def _captured(pattern: ast.pattern) -> set[str]:
    """Names that a pattern sets."""
    parts = [*ast.walk(pattern)]
    found = {part.name for part in parts if isinstance(part, ast.MatchAs | ast.MatchStar)}
    return {name for name in found if name is not None}


def _if_sequence(
    name: str, lengths: set[int], node: ast.Match, cases: list[ast.stmt], otherwise: list[ast.stmt]
) -> ast.stmt:
    """The cases, if what is matched is a list or a tuple; else those that take anything."""
    length = next(iter(lengths)) if len(lengths) == 1 else None
    asked = ast.Name(PREFIX + fits.__name__, ast.Load())
    test = ast.Call(asked, [ast.Name(name, ast.Load()), ast.Constant(length)], [])
    for part in ast.walk(test):
        ast.copy_location(part, node.subject)
    made: ast.stmt = _between(ast.If(test, cases, otherwise), node.subject, node.cases[-1].body[-1])
    return made


class _Named(ast.NodeTransformer):
    """Reads what names that a pattern sets will hold."""

    def __init__(self, held: Mapping[str, ast.expr]) -> None:
        self._held = held

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What the name will hold."""
        return ast.copy_location(copy.deepcopy(self._held[node.id]), node) if node.id in self._held else node


def _chain(
    case: ast.match_case, tests: list[ast.expr], kept: list[ast.Assign], rest: list[ast.stmt]
) -> list[ast.stmt]:
    """A case, and where it does not hold the rest."""
    steps: list[ast.stmt] = [*kept]
    if not tests and case.guard is None:
        return [*steps, *case.body]
    if tests and case.guard is not None:  # names are set before it is asked
        held = {
            target.id: step.value for step in kept for target in step.targets if isinstance(target, ast.Name)
        }
        tests = [*tests, _Named(held).visit(case.guard)]
    test: Foreign = _every(tests) if tests else case.guard
    if tests:
        return [_between(ast.If(test, [*steps, *case.body], rest), test, case.body[-1])]
    return [*steps, _between(ast.If(test, case.body, rest), test, case.body[-1])]


def _between(made: Foreign, first: Foreign, last: Foreign) -> Foreign:
    """A node that stands where others do."""
    ast.copy_location(made, first)
    made.end_lineno, made.end_col_offset = last.end_lineno, last.end_col_offset
    return made


_WHOLE = ("int", "float", "str", "bool", "tuple", "list", "dict")  # whose pattern takes all of them
_Read = tuple[list[ast.expr], list[ast.Assign]]


class _Reading:
    """Reads patterns: what holds if one fits, and what is named then; None if it is not known.

    Parameters
    ----------
    lengths
        Whether tuples of several lengths are told apart.
    """

    def __init__(self, lengths: bool) -> None:
        self._lengths = lengths

    def parts(self, pattern: ast.pattern, values: list[Foreign]) -> _Read | None:
        """Of a tuple."""
        if not isinstance(pattern, ast.MatchSequence) or len(pattern.patterns) != len(values):
            whole = isinstance(pattern, ast.MatchAs) and pattern.name is None and pattern.pattern is None
            return ([], []) if whole else None
        return self._all(pattern.patterns, values)

    def _all(self, patterns: list[ast.pattern], values: list[Foreign]) -> _Read | None:
        tests, kept = [], []
        for pattern, value in zip(patterns, values, strict=True):
            found = self.asked(pattern, value)
            if found is None:
                return None
            tests += found[0]
            kept += found[1]
        return tests, kept

    def asked(self, pattern: ast.pattern, value: Foreign) -> _Read | None:
        """Of what an expression holds that can be read again and again."""
        value = ast.copy_location(copy.deepcopy(value), pattern)
        made: Foreign
        if isinstance(pattern, ast.MatchValue):
            made = ast.Compare(value, [ast.Eq()], [pattern.value])
        elif isinstance(pattern, ast.MatchSingleton):
            made = ast.Compare(value, [ast.Is()], [ast.copy_location(ast.Constant(pattern.value), pattern)])
        elif isinstance(pattern, ast.MatchOr):
            sides = [self.asked(part, value) for part in pattern.patterns]
            if any(side is None or side[1] or not side[0] for side in sides):
                return None
            tests = [_every(side[0]) for side in sides if side]
            made = ast.BoolOp(ast.Or(), tests)
        elif isinstance(pattern, ast.MatchAs):
            inside = ([], []) if pattern.pattern is None else self.asked(pattern.pattern, value)
            if inside is None or pattern.name is None:
                return inside
            step = ast.Assign([ast.Name(pattern.name, ast.Store())], value)
            return inside[0], [*inside[1], ast.copy_location(step, pattern)]
        elif isinstance(pattern, ast.MatchSequence):
            return self._sequence(pattern, value)
        elif isinstance(pattern, ast.MatchClass):
            return self._class(pattern, value)
        else:
            return None
        return [ast.copy_location(made, pattern)], []

    def _sequence(self, pattern: ast.MatchSequence, value: Foreign) -> _Read | None:
        if any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
            return None
        entries = [ast.Subscript(value, ast.Constant(i), ast.Load()) for i in range(len(pattern.patterns))]
        found = self._all(pattern.patterns, entries)
        if found is None or not self._lengths:
            return found
        size = ast.Call(ast.Name("len", ast.Load()), [value], [])
        fits = ast.Compare(size, [ast.Eq()], [ast.Constant(len(entries))])
        return [ast.copy_location(fits, pattern), *found[0]], found[1]

    def _class(self, pattern: ast.MatchClass, value: Foreign) -> _Read | None:
        if getattr(pattern.cls, "id", "") in _WHOLE and not pattern.kwd_attrs and len(pattern.patterns) < 2:
            entries, patterns = [value] * len(pattern.patterns), pattern.patterns
        elif pattern.patterns:
            return None  # which attributes they are is for the class to say
        else:
            entries = [ast.Attribute(value, field, ast.Load()) for field in pattern.kwd_attrs]
            patterns = pattern.kwd_patterns
        found = self._all(patterns, entries)
        if found is None:
            return None
        fits = ast.Call(ast.Name("isinstance", ast.Load()), [value, pattern.cls], [])
        return [ast.copy_location(fits, pattern), *found[0]], found[1]


def _every(tests: list[ast.expr]) -> ast.expr:
    """That all of these hold."""
    return tests[0] if len(tests) == 1 else _between(ast.BoolOp(ast.And(), tests), tests[0], tests[-1])
