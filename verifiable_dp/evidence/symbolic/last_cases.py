"""Conditions that ask for the one constant that is left, as the last case of a state does: they always hold.

What a state may hold is what stands in its file wherever it is set: constants, members of enumerations,
tuples of these, and what a generator of the file yields.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from typing import Any

from verifiable_dp.evidence.judge.flow import SCOPES, File, Function, Names, own_nodes
from verifiable_dp.evidence.symbolic.cases import fits
from verifiable_dp.evidence.symbolic.source import called, tree_of, where
from verifiable_dp.evidence.symbolic.terms import PREFIX

_DEEP = 12  # steps from a condition to where its constants stand
_OBSCURE = frozenset(
    ("setattr", "delattr", "globals", "locals", "vars", "exec", "eval", "__dict__", "__setattr__")
)
_FOLLOWED = frozenset(("__init__", "__call__", "__repr__", "__str__"))
_USES_UP = frozenset(("sum", "max", "min", "any", "all", "list", "tuple", "sorted", "dict", "set"))


class LastCases:
    """What names and attributes of a file may hold, where that can be listed.

    Parameters
    ----------
    tree
        Of the file.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._nodes: list[Any] = [*ast.walk(tree)]
        self._names = Names({"": File(tree, {})})
        self._functions = [n for n in self._nodes if isinstance(n, Function)]
        self._inside: list[tuple[Any, Any]] = [
            (scope, node) for scope in self._nodes if isinstance(scope, SCOPES) for node in own_nodes(scope)
        ]
        self._stores = [(scope, node, pair) for scope, node in self._inside for pair in _stored(node)]
        self._fields = {  # of a class with its name, by their own
            (target.id, scope.name): scope
            for scope, _, (target, _) in self._stores
            if isinstance(scope, ast.ClassDef) and isinstance(target, ast.Name)
        }
        called_so = {getattr(n, "name", "") for n in self._functions}
        used = {getattr(n, "id", getattr(n, "attr", "")) for n in self._nodes}
        special = {name for name in called_so if name.startswith("__")}
        self._obscure = bool(used & _OBSCURE or special - _FOLLOWED)
        self._called_so = called_so

    def holds(self, place: Any) -> bool:
        """Whether the condition at a position asks for all that is left."""
        for scope, node in () if self._obscure else self._inside:
            if not isinstance(node, ast.If):
                continue
            test: Any = node.test
            asks = isinstance(test, ast.Call) and called(test) == PREFIX + fits.__name__
            if asks and place in (where(node), where(test)):
                return self._is_sequence(scope, test.args[0], test.args[1].value)
            left, first = None, ""
            for test in _chain_of(node):
                subject, asked = _asked_for(test)
                if left is None and subject is not None:
                    left, first = self._constants(scope, subject), ast.dump(subject)
                if left is None or subject is None or ast.dump(subject) != first:
                    break
                if where(test) == place and left <= asked:
                    return True
                left -= asked
        return False

    def _constants(self, scope: Any, node: Any) -> set[Any] | None:
        """The constants that an expression may be; None if that is not seen."""
        leaves: list[Any] = self._leaves(scope, node) or [None]
        plain = all(isinstance(leaf, ast.Constant | ast.Attribute) for leaf in leaves)
        found = {leaf.value for leaf in leaves if isinstance(leaf, ast.Constant)}
        named = {ast.unparse(leaf) for leaf in leaves if isinstance(leaf, ast.Attribute)}
        return found | named if plain and all(isinstance(one, str | int | None) for one in found) else None

    def _is_sequence(self, scope: Any, node: Any, length: int | None) -> bool:
        """Whether an expression is a tuple whatever happens, of a length or of any."""
        leaves = self._leaves(scope, node) or [None]
        return all(_is_tuple(leaf) and length in (None, len(leaf.elts)) for leaf in leaves)

    def _leaves(self, scope: Any, node: Any, depth: int = 0) -> list[Any] | None:
        """What an expression may be, as constants, tuples and members of enumerations; None if not seen."""
        if depth > _DEEP or node is None:
            return None
        if isinstance(node, ast.Constant | ast.Tuple) or self._is_enumerated(node):
            return [node]
        each: list[Any] = []
        if isinstance(node, ast.Subscript):
            at = getattr(node.slice, "value", None)
            for whole in self._leaves(scope, node.value, depth + 1) or [None]:
                if type(at) is not int or not _is_tuple(whole) or not 0 <= at < len(whole.elts):
                    return None
                each.append((scope, whole.elts[at] if isinstance(whole.elts[at], ast.Constant) else None))
        elif isinstance(node, ast.IfExp):
            each = [(scope, node.body), (scope, node.orelse)]
        elif isinstance(node, ast.Name):
            each = self._of_name(self._names.owner(scope, node.id), node.id)
        elif isinstance(node, ast.Attribute):
            if node.attr not in self._called_so and all(node.attr != name for name, _ in self._fields):
                pairs = ((s, v) for s, _, (t, v) in self._stores if getattr(t, "attr", "") == node.attr)
                each = [*pairs]
        elif isinstance(node, ast.Call) and self._sends(node):
            each = self._yielded([f for f in self._functions if [*_yields(f)]])
        found: list[Any] = []
        for inside, value in each or [(scope, None)]:
            leaves = self._leaves(inside, value, depth + 1)
            if leaves is None:
                return None
            found += leaves
        return found

    def _of_name(self, owner: Any, name: str) -> list[Any]:
        """Where a name of a function gets its values, with those; empty if one of them is not seen."""
        if not isinstance(owner, Function) or any(
            isinstance(n, ast.arg) and n.arg == name for n in ast.walk(owner.args)
        ):
            return []
        here = [(s, n) for s, n in self._inside if self._names.owner(s, name) is owner]
        if any(name in (getattr(n, "name", None), getattr(n, "asname", None)) for _, n in here):
            return []  # a function, an import or an exception has it, too
        stores = sum(isinstance(n, ast.Name) and n.id == name and not _is_read(n) for _, n in here)
        found: list[Any] = []
        for scope, node in here:
            pairs = [(scope, value) for target, value in _stored(node) if getattr(target, "id", "") == name]
            if isinstance(node, ast.For) and getattr(node.target, "id", "") == name:
                made = node.iter.func.id if _by_name(node.iter) else ""  # type: ignore[attr-defined]
                named = [f for f in self._functions if getattr(f, "name", "") == made]
                pairs = self._yielded(named if self._sets(made) == len(named) == 1 else [])
                stores += len(pairs) - 1
            found += pairs
        return found if len(found) == stores else []

    def _sets(self, name: str) -> int:
        """In how many places a file gives a name a meaning."""
        stored = 0
        for node in self._nodes:
            names = [*getattr(node, "names", ()), getattr(node, "name", None), getattr(node, "arg", None)]
            names += [part.asname or part.name for part in names if isinstance(part, ast.alias)]
            own = isinstance(node, ast.Name) and node.id == name and not _is_read(node)
            stored += own or name in names
        return stored

    def _sends(self, node: ast.Call) -> bool:
        """Whether a call can only be of a generator of the file, which is sent something."""
        if getattr(node.func, "attr", "") != "send" or "send" in self._called_so:
            return False
        modules = [a.name for n in self._nodes if isinstance(n, ast.Import) for a in n.names]
        froms = [n for n in self._nodes if isinstance(n, ast.ImportFrom)]
        modules += [n.module if n.module and not n.level else "." for n in froms]
        own = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
        used = {id(a) for n in self._nodes if _by_name(n) and n.func.id in _USES_UP for a in n.args}
        kept = any(isinstance(n, ast.GeneratorExp) and id(n) not in used for n in self._nodes)
        return not own - {"numpy", "scipy", "pandas"} and not kept

    def _yielded(self, functions: list[Any]) -> list[Any]:
        """What generators yield, all of it; empty if that is not seen of one of them."""
        plain = all(not getattr(function, "decorator_list", [0]) for function in functions)
        found = [(function, node) for function in functions for node in _yields(function)]
        seen = plain and all(isinstance(node, ast.Yield) for _, node in found)
        return [(function, node.value) for function, node in found] if seen else []

    def _is_enumerated(self, node: Any) -> bool:
        """Whether it is a member of an enumeration of the file."""
        owner = getattr(node.value, "id", "") if isinstance(node, ast.Attribute) else ""
        kind = self._fields.get((node.attr, owner)) if owner else None
        bases = {getattr(b, "id", getattr(b, "attr", "")) for b in getattr(kind, "bases", ())}
        return bool(bases & {"Enum", "IntEnum", "StrEnum", "Flag"})


def _yields(function: Any) -> Iterator[Any]:
    return (node for node in own_nodes(function) if isinstance(node, ast.Yield | ast.YieldFrom))


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _by_name(node: Any) -> bool:
    """Whether it is a call of something that has a name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _is_tuple(node: Any) -> bool:
    return isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts)


def _stored(node: Any) -> list[tuple[Any, Any]]:
    """Targets of an assignment with the values, None where these are parts of something."""
    if isinstance(node, ast.Assign):
        made: list[tuple[Any, Any]] = []
        for target in node.targets:
            parts, given = getattr(target, "elts", [target]), getattr(node.value, "elts", [])
            values = given if len(given) == len(parts) else [None] * len(parts)
            made += zip(parts, [node.value] if parts == [target] else values, strict=True)
        return made
    if isinstance(node, ast.AnnAssign | ast.NamedExpr):
        return [(node.target, node.value)]
    if isinstance(node, ast.AugAssign):
        return [(node.target, None)]
    if isinstance(node, ast.For | ast.comprehension):
        return [(part, None) for part in ast.walk(node.target) if isinstance(part, ast.Name | ast.Attribute)]
    return []


def _chain_of(node: ast.If) -> Iterator[Any]:
    """The first conditions of a chain of branches; those beside them are looked at on their own."""
    rest: list[Any] = [node]
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        test, rest = rest[0].test, rest[0].orelse
        several = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
        yield test.values[0] if several else test  # type: ignore[attr-defined]


def _asked_for(test: Any) -> tuple[Any, set[Any]]:
    """What is compared with constants, and those; None where a condition is anything else."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_asked_for(part) for part in test.values]
        alike = {ast.dump(subject) if subject is not None else "" for subject, _ in parts}
        return (parts[0][0] if len(alike) == 1 else None), set().union(*(asked for _, asked in parts))
    if (
        not isinstance(test, ast.Compare)
        or len(test.ops) != 1
        or not isinstance(test.ops[0], ast.Eq | ast.Is)
    ):
        return None, set()
    other, equal = test.comparators[0], isinstance(test.ops[0], ast.Eq)
    if isinstance(other, ast.Constant) and (equal or other.value is None):
        return test.left, {other.value}
    return (test.left, {ast.unparse(other)}) if isinstance(other, ast.Attribute) else (None, set())


_cases = functools.lru_cache(maxsize=32)(LastCases)


def asks_for_the_rest(file: str, place: Any) -> bool:
    """Whether the condition at a position in a file asks for all that is left, so that it holds."""
    tree = tree_of(file)
    return tree is not None and _cases(tree).holds(place)
