"""What the names of a file may stand for, and the functions and methods that it has."""

from __future__ import annotations

import ast
import copy
import functools
import types
from collections.abc import Iterator, Mapping, Set

from verifiable_dp.core.asked import was_heard
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.libraries import (
    FIXED,
    FUNCTIONS,
    HELD,
    INITIAL,
    SIMPLE,
    Libraries,
    stored,
)
from verifiable_dp.evidence.judge.trees import walk

_NAMED = (*FUNCTIONS, ast.ClassDef)
# What a name in a function may stand for that is no global.
GIVEN, ITSELF, ITS_CLASS = "(what it is given)", "(its object)", "(its class)"
# What these give is new.
_NEW = (ast.Constant, ast.Compare, ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.Lambda)
_COPIES = (dict, list, tuple, sorted, copy.copy)
_SPACES, SETS = (globals, vars), (setattr, delattr)
# Of a library: what gives what it is given, or a part.
_PARTS = (*_COPIES, iter, next, reversed, enumerate, zip, map, filter, max, min, getattr, vars)


class Code(Libraries):
    """The functions and methods of a file, and what of it is not settled.

    Attributes
    ----------
    names, attributes
        Of globals, and of classes and objects.
    """

    def __init__(self, tree: ast.Module, scope: Mapping[str, Foreign], file: str) -> None:
        super().__init__(tree, scope, file)
        self.names, self.attributes = set[str](), set[str]()
        self.defaults = set[tuple[ast.AST, str]]()
        self._code = {one.name: one for one in tree.body if isinstance(one, _NAMED)}
        self._methods = dict[str, list[ast.AST]]()
        self._class_of = dict[ast.AST, str]()
        self._given_by = dict[ast.AST, Set[str]]()
        for kind in (one for one in walk(tree) if isinstance(one, ast.ClassDef)):
            for one in (one for one in kind.body if isinstance(one, FUNCTIONS)):
                self._methods.setdefault(one.name, []).append(one)
                self._class_of[one] = kind.name

    def calls_itself(self, body: ast.AST) -> bool:
        """Whether statements of the module, which nobody has heard, call a function by its name."""
        return not was_heard(self.file) and getattr(body, "name", "") in self._called_names

    @functools.cached_property
    def _called_names(self) -> Set[str]:
        called, waiting = set[str](), list[ast.AST]()
        for step in self.tree.body:
            waiting += step.body if isinstance(step, ast.ClassDef) else [step]
        waiting = [step for step in waiting if not isinstance(step, FUNCTIONS)]
        while waiting:
            for node in walk(waiting.pop()):
                what = node.func if isinstance(node, ast.Call) else None
                name = getattr(what, "attr", getattr(what, "id", ""))
                if name and name not in called:
                    called.add(name)
                    waiting += self._started(name)
        return called

    def function(self, name: str) -> ast.AST | None:
        """The function of the file that has this name."""
        found = self._code.get(name)
        return found if isinstance(found, FUNCTIONS) else None

    def class_of(self, body: ast.AST) -> str:
        """The name of the class that a method is of; of a function, none."""
        return self._class_of.get(body, "")

    def given_by(self, body: ast.AST) -> Set[str]:
        """What a function of the file may return, or a part of it; as `Aliases.gives`.

        Those of all functions follow from each other: they are found together, once.
        """
        if not self._given_by:
            every = [one for one in self._code.values() if isinstance(one, FUNCTIONS)]
            self._given_by, before = {one: frozenset[str]() for one in every}, None
            while before != self._given_by:
                before = dict(self._given_by)
                for one in every:
                    self._given_by[one] = Aliases(self, one).gives
        return self._given_by[body]

    def _started(self, name: str) -> Iterator[ast.AST]:
        """What runs where this is called: functions and methods, or how an object of a class is made."""
        found = self._code.get(name)
        yield from self._methods.get(name, ())
        if isinstance(found, ast.ClassDef):
            yield from (one for one in found.body if getattr(one, "name", "") in INITIAL)
        elif found is not None:
            yield found


class Aliases:
    """What of a file's globals the names of one function may stand for, or for a part of.

    Parameters
    ----------
    file
        That the function is in.
    body
        The function, or the module: then, what its own names may stand for.

    Attributes
    ----------
    gives
        What the function returns, or a part of it.
    """

    def __init__(self, file: Code, body: Foreign) -> None:
        self._file, every = file, walk(body)
        self._also = isinstance(body, ast.Module)  # whose names are globals themselves
        declared = {name for one in every if isinstance(one, ast.Global) for name in one.names}
        given = [one.arg for one in every if isinstance(one, ast.arg) and not self._also]
        local = {one.id for one in stored(body)} | {*given}
        self._names = {name: {GIVEN} if name in given else set[str]() for name in local - declared}
        if body in file._class_of and given:
            of_class = any(getattr(one, "id", "") == "classmethod" for one in body.decorator_list)
            self._names[given[0]] = {ITS_CLASS if of_class else ITSELF}
        pairs, size = [pair for one in every for pair in _pairs(one)], -1
        while size < (size := sum(map(len, self._names.values()))):
            for target, value, inside in pairs:
                for name in target & self._names.keys():
                    self._names[name] |= self.part_of(value) if inside else self.of(value)
        returned = (one.value for one in every if isinstance(one, ast.Return | ast.Yield))
        self.gives = set[str]().union(*map(self.of, returned))

    def of(self, node: ast.AST | None) -> Set[str]:
        """Names of globals that an expression may give, or a part of them: what a library makes is new."""
        if isinstance(node, ast.Name):
            there = self._file.scope.get(node.id)
            fixed = isinstance(there, FIXED) and not isinstance(there, type)
            fixed = fixed or (isinstance(there, tuple | frozenset) and _is_flat(there))
            changes = node.id in self._file.scope and not fixed
            own = {node.id} if changes else set[str]()
            return self._names.get(node.id, own) | (own if self._also else set())
        if isinstance(node, ast.Call):
            return self._made(node)
        if node is None or isinstance(node, _NEW):
            return set()
        if isinstance(node, ast.Subscript | ast.Starred):
            return self.part_of(node.value)
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return set[str]().union(*(self.of(v) if key else self.part_of(v) for key, v in pairs))
        return set[str]().union(*map(self.of, ast.iter_child_nodes(node)))

    def part_of(self, node: ast.AST | None) -> Set[str]:
        """As `of`, of what is in what an expression gives: nobody can change the numbers in a table."""
        return {name for name in self.of(node) if not _is_flat(self._file.scope.get(name, self))}

    def _made(self, node: ast.Call) -> Set[str]:
        """What a call may give: of a function of the code what it returns, or keeps in a cache."""
        found = self._file._found(node.func)
        if values.same(found, _SPACES) and not node.args:
            return {n for n, one in self._file.scope.items() if not isinstance(one, types.ModuleType)}
        if found is type:
            given = set[str]().union(*map(self.of, node.args))
            return given - {ITSELF} | ({ITS_CLASS} if ITSELF in given else set())
        pure = found is not None and values.is_pure(values.home_of(found).partition(".")[0])
        parts, method = list[ast.expr](), ""
        if isinstance(node.func, ast.Attribute) and not isinstance(
            self._file._found(node.func.value), types.ModuleType | type
        ):
            parts, method = [node.func.value], node.func.attr
        known = method in values.METHODS - values.SHARED - values.LOOKS_UP
        if known or (pure and not method and not values.same(found, _PARTS)):
            return set()
        parts += [] if isinstance(found, type) and not pure else node.args
        inside = method in values.SHARED | values.LOOKS_UP or values.same(found, _PARTS)
        made = set[str]().union(*map(self.part_of if inside else self.of, parts))
        body = self._file._code.get(getattr(node.func, "id", ""))
        if not isinstance(body, FUNCTIONS):
            return made
        gives = self._file.given_by(body)
        kept = set[str]() if isinstance(found, FIXED) else {body.name}  # as a cache does
        return (gives - {GIVEN}) | (made if GIVEN in gives else set()) | kept


def _is_flat(thing: Foreign) -> bool:
    """Whether nothing that a container holds can be changed."""
    inside = thing.values() if type(thing) is dict else thing
    return isinstance(thing, HELD) and all(isinstance(one, (*SIMPLE, types.FunctionType)) for one in inside)


def _pairs(node: Foreign) -> Iterator[tuple[Set[str], ast.AST, bool]]:
    """Names that a part of a function sets, what they are given, and whether they are given what is in it."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        for target in [node.target] if not isinstance(node, ast.Assign) else node.targets:
            yield {one.id for one in stored(target)}, node.value, isinstance(target, ast.Tuple | ast.List)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield {one.id for one in stored(node.target)}, node.iter, True
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield {one.id for one in stored(node.optional_vars)}, node.context_expr, False
    elif isinstance(node, ast.arguments):
        placed = [*node.posonlyargs, *node.args][-len(node.defaults) or None :]
        for one, default in zip(
            [*placed, *node.kwonlyargs], [*node.defaults, *node.kw_defaults], strict=False
        ):
            if default is not None:
                yield {one.arg}, default, False
