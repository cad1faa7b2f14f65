"""What code that no run has run may change later: in production, anybody may call it.

Functions that ran during the import count only if code that no run has run mentions them. What they store is
held against what is there between runs, by attribute and by object: where it is not known what a name stands
for, it may be any of these. New objects are nobody else's.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.changes import Changes, body_of
from verifiable_dp.evidence.judge.libraries import (
    FIXED,
    FUNCTIONS,
    INITIAL,
    MAKES,
    SIMPLE,
    is_installed,
    stored,
)
from verifiable_dp.evidence.judge.trees import walk

_CODE = (*FUNCTIONS, ast.Lambda)
_NEW = (ast.Constant, ast.Compare, ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.Lambda)
_NEW_ALSO = (
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_SETS = (setattr, delattr, object.__setattr__, object.__delattr__)
_RUNS, _SPACES = (exec, eval), (globals, locals, vars)
_HOLDERS = frozenset(("builtins", "collections", "functools", "itertools", "types", "weakref"))  # of Python's
_LEAVE = frozenset(("copy", "keys", "values", "items", "get", "index", "count", "format", "join", "split"))
_FIXED = (*FIXED, *MAKES, tuple, frozenset)
_MOST = 10_000  # objects that are looked into

Objects = Sequence[Foreign] | None  # what an expression may stand for; None if that may be anything


class _Idle(NamedTuple):
    """A function, or lambda, of a file."""

    file: Changes
    body: Foreign

    @property
    def makes(self) -> bool:
        """Whether it runs where an object or a class is made."""
        return getattr(self.body, "name", "") in INITIAL

    @property
    def name(self) -> str:
        """What code that calls it mentions: of what makes objects, the class."""
        return self.file.class_of(self.body) if self.makes else str(getattr(self.body, "name", ""))


class Later:
    """What idle code may change; `names` and `attributes` of its files are told.

    Parameters
    ----------
    files
        All that belong to the code.
    ran
        Functions that runs have run.
    began
        Functions that the import has run.

    Attributes
    ----------
    codes
        Of functions whose defaults, or names around them, may be changed.
    """

    def __init__(self, files: Iterable[Changes], ran: Set[ast.AST], began: Set[ast.AST]) -> None:
        self._files = [*files]
        self._changed, self._attributes = set[int](), set[str]()
        self._kept = reached([value for one in self._files for value in one.scope.values()])
        self._kept |= {id(module): module for one in self._files for module in _modules(one)}
        self._owns = {id(one): one for one in self._kept.values() if _is_own(one) or type(one).__dictoffset__}
        for one in self._idle(ran, began):
            self._follow(one)
        self.codes = {
            one.__code__
            for one in self._kept.values()
            if isinstance(one, types.FunctionType) and not self._changed.isdisjoint(reached([one]))
        }
        for file in self._files:
            for name, value in file.scope.items():
                if not isinstance(value, types.FunctionType) and not self._changed.isdisjoint(
                    reached([value])
                ):
                    file.names.add(name)

    def _idle(self, ran: Set[ast.AST], began: Set[ast.AST]) -> list[_Idle]:
        """Functions that no run has run; of those of the import, what others of these mention."""
        every = [
            _Idle(one, body) for one in self._files for body in walk(one.tree) if isinstance(body, _CODE)
        ]
        every = [one for one in every if one.body not in ran or one.makes]
        begun = {
            one.body for one in every if one.makes or one.body in began or one.file.calls_itself(one.body)
        }
        found = more = [one for one in every if one.body not in begun]
        while more:
            steps = (step for one in found for step in body_of(one.body))  # a decorator is the import's
            parts = (part for step in steps for part in walk(step))
            said = {getattr(part, "attr", getattr(part, "id", "")) for part in parts}
            more = [one for one in every if one.body in begun and one.name in said]
            begun -= {one.body for one in more}
            found = found + more
        return found

    # ------------------------------------------------------------ what is stored

    def _follow(self, idle: _Idle) -> None:
        file, every = idle.file, walk(idle.body)
        shared = {name for one in every if isinstance(one, ast.Global) for name in one.names}
        around = {name for one in every if isinstance(one, ast.Nonlocal) for name in one.names}
        set_here = {name for one in every for name in _named(one)}
        file.names |= shared & set_here
        inner = {
            part for one in every if isinstance(one, FUNCTIONS) and one is not idle.body for part in walk(one)
        }
        around = {n for one in every if isinstance(one, ast.Nonlocal) and one not in inner for n in one.names}
        for one in (one for one in walk(file.tree) if isinstance(one, FUNCTIONS) and idle.body in walk(one)):
            file.defaults |= {(one, name) for name in around}
        scope = _Scope(file, idle.body, shared | around, self)
        for part in every:
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                self._set(scope, part.value, part.attr)
            elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                self._change(scope, part.value, "__setitem__")
            elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                self._change(scope, part.target, "__iadd__")
            elif isinstance(part, ast.Call):
                self._call(scope, part)

    def _call(self, scope: _Scope, call: ast.Call) -> None:
        """Keep what a call changes: that whose method it is, and what a library writes into."""
        what, found = call.func, scope.file._found(call.func)
        owner = getattr(found, "__self__", None) if isinstance(what, ast.Name) else None
        if id(owner) in self._kept and values.may_write(found.__name__):
            self._changed.add(id(owner))
        elif values.same(found, _RUNS):
            self._all()
        elif values.same(found, _SETS):
            name = call.args[1] if len(call.args) > 1 else None
            self._set(scope, call.args[0], str(name.value) if isinstance(name, ast.Constant) else "")
        elif getattr(what, "attr", "") == "shuffle" and call.args:
            self._change(scope, call.args[0], "__setitem__")
        elif isinstance(what, ast.Attribute) and not isinstance(
            scope.file._found(what.value), types.ModuleType | type
        ):
            if what.attr not in _LEAVE and (values.may_write(what.attr) or what.attr in values.MOVES):
                self._change(scope, what.value, what.attr)
        elif found is not None and (values.leaves_alone(found) or values.same(found, values.IN_FIRST)):
            given = [*enumerate(call.args), *((one.arg, one.value) for one in call.keywords)]
            for one in (one for at, one in given if values.writes(found, at)):
                self._change(scope, one, "__setitem__")

    def _set(self, scope: _Scope, node: ast.expr, attribute: str) -> None:
        """Keep an attribute of what an expression may stand for, or all of its attributes."""
        if attribute[:2] == "__":
            return self._all()
        objects = scope.objects(node)
        if objects is None and not attribute:  # a helper for any object: whoever hands it one is asked
            return None
        for one in self._owns.values() if objects is None else objects:
            if isinstance(one, types.ModuleType):
                for file in (file for file in self._files if file.scope is vars(one)):
                    file.names |= {attribute} if attribute else file.scope.keys()
            elif id(one) in self._owns:
                there = [attribute] if attribute else [n for n in dir(one) if n[:2] != "__"]
                scope.file.attributes |= {
                    n for n in there if inspect.getattr_static(one, n, self) is not self
                }
        return None

    def _change(self, scope: _Scope, node: ast.expr, method: str) -> None:
        """Keep objects that a method changes: those of libraries, as we look at the user's methods."""
        if scope.is_space(node):
            return self._all()
        objects = scope.objects(node)
        for one in self._kept.values() if objects is None else objects:
            if not isinstance(one, _FIXED) and not _is_own(one) and hasattr(type(one), method):
                self._changed |= {
                    id(one),
                    *([id(one.base)] if isinstance(one, np.ndarray) and one.base is not None else []),
                }
        return None

    def _all(self) -> None:
        """Keep all names and attributes: anything may be changed."""
        for file in self._files:
            file.names |= {n for n, one in file.scope.items() if not isinstance(one, types.ModuleType)}
            file.attributes |= {n for one in self._owns.values() for n in dir(one) if n[:2] != "__"}

    def of_class(self, kind: type, attribute: str) -> Objects:
        """What an attribute of objects of a class may be: of those that are kept, or what is new."""
        for file in self._files:
            for part in walk(file.tree):
                targets = _targets(part)
                if any(getattr(one, "attr", "") == attribute for top in targets for one in walk(top)):
                    value = getattr(part, "value", None) if isinstance(targets[0], ast.Attribute) else None
                    if value is None or not _is_new(file, value):
                        return None
        there = [one for one in self._owns.values() if isinstance(one, kind)]
        return [inspect.getattr_static(one, attribute, None) for one in (*there, kind)]

    def instances(self, kind: type) -> list[Foreign]:
        """Objects of a class that are there between runs."""
        return [one for one in self._owns.values() if isinstance(one, kind)]


class _Scope:
    """What expressions in a function may stand for."""

    def __init__(self, file: Changes, body: Foreign, shared: Set[str], later: Later) -> None:
        self.file, self._later = file, later
        every = walk(body)
        given = [one.arg for one in every if isinstance(one, ast.arg)]
        self._given: dict[str, list[ast.AST | None]] = {name: [None] for name in given if name not in shared}
        part: Foreign
        for part in every:
            for name in (name for name in _named(part) if name not in shared):
                plain = isinstance(part, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign)
                whole = plain and any(isinstance(one, ast.Name) and one.id == name for one in _targets(part))
                self._given.setdefault(name, []).append(part.value if whole else None)
        kind = file.scope.get(file.class_of(body))
        first = [one.arg for one in body.args.args][:1] if isinstance(kind, type) else []
        of_class = any(getattr(one, "id", "") != "property" for one in getattr(body, "decorator_list", ()))
        self._itself = {} if of_class or not isinstance(kind, type) else dict.fromkeys(first, kind)
        self._makes = getattr(body, "name", "") in INITIAL

    def objects(self, node: ast.AST) -> Objects:
        """What an expression may stand for of what is there between runs; None if that may be anything."""
        if self._is_new(node):
            return []
        if isinstance(node, ast.Name):
            if node.id in self._itself and self._given[node.id] == [None]:
                return [] if self._makes else self._later.instances(self._itself[node.id])
            if node.id in self._given:
                return (
                    [] if all(one is not None and self._is_new(one) for one in self._given[node.id]) else None
                )
            return [self.file.scope[node.id]] if node.id in self.file.scope else None
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in self._itself
        ):
            return self._later.of_class(self._itself[node.value.id], node.attr)
        if isinstance(node, ast.Attribute):
            owners = self.objects(node.value)
            return None if owners is None else [_part(one, node.attr) for one in owners]
        if isinstance(node, ast.Call) and self.file._found(node.func) is type and node.args:
            owners = self.objects(node.args[0])
            return None if owners is None else [*map(type, owners)]
        if isinstance(node, ast.Subscript):
            inside = reached(self.objects(node.value) or ())
            whole = [one for one in inside.values() if isinstance(one, dict) and sys in one.values()]
            return [*inside.values()] if inside and not whole else None
        return None

    def is_space(self, node: ast.AST) -> bool:
        """Whether it is a dictionary that holds names or attributes."""
        if isinstance(node, ast.Name):
            return any(one is not None and self.is_space(one) for one in self._given.get(node.id, ()))
        called = isinstance(node, ast.Call) and values.same(self.file._found(node.func), _SPACES)
        return called or getattr(node, "attr", "") == "__dict__"

    def _is_new(self, node: ast.AST) -> bool:
        return _is_new(self.file, node) and not self.is_space(node)


def _is_new(file: Changes, node: ast.AST) -> bool:
    """Whether an expression makes what it gives: nobody else has it."""
    if isinstance(node, ast.IfExp):
        return _is_new(file, node.body) and _is_new(file, node.orelse)
    found = file._found(node.func) if isinstance(node, ast.Call) else None
    made = (
        values.is_fresh(found)
        or (isinstance(found, type) and found is not type)
        or values.same(found, values.COPIES)
    )
    body = (
        file.function(getattr(getattr(node, "func", None), "id", "")) if isinstance(node, ast.Call) else None
    )
    if body is not None:
        return not file.given_by(body)
    copied = getattr(getattr(node, "func", None), "attr", "") in ("copy", "tolist")
    return isinstance(node, (*_NEW, *_NEW_ALSO)) or (found is not None and made) or copied


def _part(thing: Foreign, attribute: str) -> Foreign:
    """An attribute, without running anything for it."""
    if attribute == "__class__":
        return type(thing)
    return inspect.getattr_static(thing, attribute, None)


def _targets(part: ast.AST) -> list[ast.expr]:
    return (
        part.targets
        if isinstance(part, ast.Assign)
        else [one for one in [getattr(part, "target", None)] if one]
    )


def _named(part: Foreign) -> Iterator[str]:
    """Names that a part of a function sets by itself."""
    if isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For | ast.AsyncFor):
        yield from (one.id for target in _targets(part) for one in stored(target))
    elif isinstance(part, ast.comprehension):
        yield from (one.id for one in stored(part.target))
    elif isinstance(part, ast.withitem) and part.optional_vars is not None:
        yield from (one.id for one in stored(part.optional_vars))
    elif isinstance(part, ast.Import | ast.ImportFrom):
        yield from ((one.asname or one.name).partition(".")[0] for one in part.names)
    elif isinstance(part, ast.Delete):
        yield from (one.id for target in part.targets for one in stored(target))
    elif isinstance(part, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from (name for name in [part.name] if name)


def _modules(file: Changes) -> Iterator[types.ModuleType]:
    """The module of a file."""
    yield from (one for one in [*sys.modules.values()] if getattr(one, "__dict__", None) is file.scope)


def _is_own(thing: Foreign) -> bool:
    """Whether it is a module, function or class of the user's, or an object of such a class."""
    kind = thing if isinstance(thing, types.ModuleType | type | types.FunctionType) else type(thing)
    name = kind.__name__ if isinstance(kind, types.ModuleType) else str(kind.__module__)
    file = getattr(sys.modules.get(name), "__file__", None) or "/"
    return name.partition(".")[0] not in sys.stdlib_module_names and not is_installed(file)


def reached(things: Iterable[Foreign]) -> dict[int, Foreign]:
    """What objects hold, by address, and what that holds, and so on; nothing of libraries' classes."""
    found, waiting = dict[int, Foreign](), [*things]
    while waiting and len(found) < _MOST:
        one = waiting.pop()
        if id(one) in found or isinstance(one, (*SIMPLE, types.ModuleType, types.CodeType)):
            continue
        if isinstance(one, type) and not _is_own(one):
            continue
        found[id(one)] = one
        held: list[Foreign] = []
        space = getattr(one, "__dict__", None) if _is_own(one) else None
        if isinstance(one, types.FunctionType):
            held = [
                one.__defaults__,
                *(one.__kwdefaults__ or {}).values(),
                one.__closure__,
                *one.__dict__.values(),
            ]
        elif isinstance(one, type):
            held = [*vars(one).values(), *one.__bases__]
        elif isinstance(one, np.ndarray):
            held = [one.base, *(one.ravel().tolist() if one.dtype == object else ())]
        elif _is_own(one) or type(one).__module__ in _HOLDERS:
            held = [ref for ref in gc.get_referents(one) if ref is not space]
            held += space.values() if isinstance(space, dict) else ()
        waiting += held
    return found
