"""What code that neither ran nor was called by the import may change: anybody may call it in production."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator, Mapping, Set
from typing import Self

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.libraries import (
    FIXED,
    FUNCTIONS,
    HELD,
    INITIAL,
    SIMPLE,
    Libraries,
    is_of,
    stored,
)
from verifiable_dp.evidence.judge.trees import walk

_NAMED = (*FUNCTIONS, ast.ClassDef)
# What a name in a function may stand for that is no global.
GIVEN, ITSELF, ITS_CLASS = "(what it is given)", "(its object)", "(its class)"
_OF_CALLERS = frozenset((GIVEN, ITSELF, ITS_CLASS))
_REORDERS = frozenset(("sort", "reverse", "rotate"))
# What these give is new.
_NEW = (ast.Constant, ast.Compare, ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.Lambda)
_COPIES = (dict, list, tuple, sorted, copy.copy)
_SPACES, SETS = (globals, vars), (setattr, delattr)
# Of a library: what gives what it is given, or a part.
_PARTS = (*_COPIES, iter, next, reversed, enumerate, zip, map, filter, max, min, getattr, vars)


class Idle(Libraries):
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

    def of(self, module: types.ModuleType) -> Self | None:
        """What of another module is not settled; None of one that is installed."""
        raise NotImplementedError

    def idle(self, ran: Set[ast.AST]) -> None:
        """Keep what a function may change that neither ran nor was called by the import: anyone may."""
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
        for body in (one for one in walk(self.tree) if isinstance(one, FUNCTIONS)):
            if body not in ran and body.name not in called and body.name not in INITIAL:
                self._switched(body)

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

    def _switched(self, body: Foreign) -> None:
        """Keep names and attributes that a function sets, or changes in place, also by another name."""
        every = walk(body)
        declared = {name for one in every if isinstance(one, ast.Global) for name in one.names}
        self.names |= declared & {one.id for one in stored(body)}
        inner = {
            part for one in every if isinstance(one, FUNCTIONS) and one is not body for part in walk(one)
        }
        around = {n for one in every if isinstance(one, ast.Nonlocal) and one not in inner for n in one.names}
        for one in (one for one in walk(self.tree) if isinstance(one, FUNCTIONS) and body in walk(one)):
            self.defaults |= {(one, name) for name in around}
        held = Aliases(self, body)
        for part in every:
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                self._changes(part, held.of(part.value), body)
            by_name = isinstance(part, ast.Call) and values.same(self._found(part.func), SETS)
            for what in self._changed(part, held):
                self._changes(what, held.of(what), body, whole=by_name)

    def _changed(self, node: ast.AST, held: Aliases) -> list[ast.expr]:
        """What a call changes in place: what its method is of, and what a library writes into."""
        what, found = (node.func, self._found(node.func)) if isinstance(node, ast.Call) else (None, None)
        if isinstance(what, ast.Attribute):
            tables = [self.scope[name] for name in held.of(what.value) & self.scope.keys()]
            writes = values.may_write(what.attr) or what.attr in _REORDERS
            plain = bool(tables) and all(isinstance(one, (*HELD, np.ndarray)) for one in tables)
            if what.attr in values.CHANGES or (writes and plain):
                return [what.value]
        if found is None or not isinstance(node, ast.Call):
            return []
        if values.same(found, SETS):
            return node.args[:1]
        given = [*enumerate(node.args), *((one.arg, one.value) for one in node.keywords)]
        known = values.leaves_alone(found) or values.same(found, values.IN_FIRST)
        return [one for at, one in given if known and values.writes(found, at)]

    def _changes(self, node: Foreign, held: Set[str], method: ast.AST, *, whole: bool = False) -> None:
        """Keep what may be changed: globals, and attributes of what a function is given, or all of it."""
        if isinstance(node, ast.Subscript):  # which is no way to change a class
            held = {name for name in held if not isinstance(self.scope.get(name), type)}
        while isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        owner = self.scope.get(getattr(getattr(node, "value", None), "id", ""))
        named = isinstance(node, ast.Attribute) and node.attr != "__dict__"
        other = self.of(owner) if isinstance(owner, types.ModuleType) else None
        if named and other is not None:
            other.names.add(node.attr)
        elif named and isinstance(owner, type):
            self.attributes.add(node.attr)
        else:
            self.names |= held - _OF_CALLERS
        if not held & _OF_CALLERS:
            return
        kind = None if GIVEN in held else self.scope.get(self._class_of.get(method, ""))
        objects = self._objects(kind if isinstance(kind, type) else object, of_class=ITS_CLASS in held)
        if not named:
            self.names |= {*objects} if whole or not isinstance(node, ast.Name) else set()
        elif any(
            node.attr in getattr(one, "__dict__", ()) or is_of(one, node.attr) for one in objects.values()
        ):
            self.attributes.add(node.attr)

    def _objects(self, kind: type, *, of_class: bool) -> dict[str, Foreign]:
        """Objects of a class that are globals or in one, by their names; and classes, if asked for."""
        found = dict[str, Foreign]()
        for name, value in self.scope.items():
            inside = (value.values() if type(value) is dict else value) if isinstance(value, HELD) else ()
            for one in (value, *inside):
                objects = isinstance(one, kind) and not isinstance(one, (*FIXED, *HELD))
                if objects or (of_class and self._is_class(one) and issubclass(one, kind)):
                    found[name] = one
        return found


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

    def __init__(self, file: Idle, body: Foreign) -> None:
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
