"""How what draws decide spreads through the files of users' code, until no more of it is found.

Along assignments, calls, returns, containers, attributes and the conditions around them; neither the order of
statements nor which object an attribute belongs to is told apart: what is said of a value holds of all that a
name may be. Names are resolved as Python does; what modules hold is read off the objects that stand there
before the runs, so that how they came about is no matter.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import inspect
import random
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.imports import settle
from verifiable_dp.evidence.judge.trees import walk
from verifiable_dp.evidence.judge.values import (
    FOLLOWED,
    GENERATOR,
    LIST,
    MADE,
    NONE,
    SET,
    SETS,
    STEEP,
    TEXT,
    UNKNOWN,
    Value,
    is_of_system,
    joined,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.Module,
    *COMPREHENSION.__args__,
)
INITIAL = ("__init__", "__post_init__")  # run once an object
_T = TypeVar("_T")
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_GENERATORS = np.random.Generator | np.random.RandomState | random.Random
_HOLDING = (
    *(list, tuple, dict, set, frozenset, collections.deque, str, bytes, int, float),
    np.ndarray,
    np.generic,
)
_TABLES = (list, tuple, dict, set, frozenset, collections.deque, types.MappingProxyType)

_RUNS = f"{__package__.rpartition('.')[0]}."  # whose classes stand in for data and generators


class File(NamedTuple):
    """A file of users' code: its tree and its globals."""

    tree: ast.Module
    scope: Mapping[str, Foreign]


class Names:
    """What names mean: scopes, functions and classes of the files, and objects of libraries.

    Parameters
    ----------
    files
        By path.
    """

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self.outer: dict[ast.AST, ast.AST] = {}  # of a scope, the one around it
        self.local: dict[ast.AST, set[str]] = {}
        self.home: dict[ast.AST, str] = {}
        self.coded: dict[tuple[str, str, int], list[Function]] = {}
        self.classes: dict[tuple[str, str], list[ast.ClassDef]] = {}
        self.methods: dict[str, list[ast.FunctionDef]] = {}
        self.objects: dict[int, Foreign] = {}
        self.parts: dict[tuple[int, str], Value] = {}
        self.attributes: dict[str, Value] = {}  # of objects that were there before the runs
        self.held: dict[Foreign, Value] = {}  # by functions that were: names of others, their own defaults
        self.kinds: dict[ast.AST, type] = {}
        self.rebound: set[str] = set()  # by functions that declare them as global
        self.known: dict[int, tuple[Foreign, Value]] = {}
        for file, one in files.items():
            self.local[one.tree], self.home[one.tree] = set(), file
            self._collect(one.tree, one.tree, file, "")
        nodes = [node for one in files.values() for node in walk(one.tree)]
        again = [node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in INITIAL]
        plain = not any("super" in names for names in self.local.values())
        self.begins_again = not all(plain and ast.unparse(one) == "super()" for one in again)
        kinds = {name.rpartition(".")[2].lstrip("_") for _, name in self.classes}
        self.settled = settle({file: (one.tree, one.scope) for file, one in files.items()})
        self.of_system = {
            file: set(_taken_from_system(one.tree)) | self.settled[file].names for file, one in files.items()
        }
        self.mangled = tuple(f"_{name}__" for name in kinds)  # how names of a class's own begin elsewhere
        coded = [node for nodes in self.coded.values() for node in nodes]
        waiting = (ast.Yield, ast.YieldFrom)
        self.waits = {one for one in coded if any(isinstance(part, waiting) for part in own_nodes(one))}
        for one in files.values():
            for value in [*one.scope.values()]:
                if isinstance(value, type):
                    self._kind(value)

    def _collect(self, node: ast.AST, scope: ast.AST, file: str, path: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner, beneath = scope, path
            for name in bound(child):
                held = self._holder(scope) if isinstance(node, ast.NamedExpr) else scope
                self.local[held].add(name)
            if isinstance(child, SCOPES):
                self.outer[child], self.local[child], self.home[child], inner = scope, set(), file, child
                line = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", ()))])
                name = getattr(child, "name", "<lambda>")
                beneath = f"{path}{name}." if isinstance(child, ast.ClassDef) else f"{path}{name}.<locals>."
                if isinstance(child, Function):
                    self.coded.setdefault((file, name, line), []).append(child)
                    if isinstance(scope, ast.ClassDef) and not isinstance(child, ast.Lambda):
                        self.methods.setdefault(name, []).append(child)  # type: ignore[arg-type]
                if isinstance(child, ast.ClassDef):
                    self.classes.setdefault((file, path + name), []).append(child)
            self._collect(child, inner, file, beneath)
        if isinstance(node, ast.Global | ast.Nonlocal):
            self.local[scope] -= {*node.names}
            self.rebound |= {*node.names}
        if isinstance(node, SCOPES):
            declared = [n for n in own_nodes(node) if isinstance(n, ast.Global | ast.Nonlocal)]
            self.local[node] -= {name for one in declared for name in one.names}

    def _holder(self, scope: ast.AST) -> ast.AST:
        while isinstance(scope, COMPREHENSION):
            scope = self.outer[scope]
        return scope

    def owner(self, scope: ast.AST, name: str) -> ast.AST | None:
        """The scope whose name it is; None where it is of the globals or built in."""
        first: ast.AST | None = scope
        while first is not None:
            if name in self.local[first] and (first is scope or not isinstance(first, ast.ClassDef)):
                return first
            first = self.outer.get(first)
        return None

    def _kind(self, value: type) -> ast.AST | None:
        """The class statement of a class of the user's; None if several have its name."""
        file = getattr(sys.modules.get(value.__module__), "__file__", None) or ""
        found = self.classes.get((file, value.__qualname__), [])
        node = found[0] if len(found) == 1 else None
        if node is not None and node not in self.kinds:
            self.kinds[node] = value
            for inner in vars(value).values():
                if isinstance(inner, type):
                    self._kind(inner)
        return node

    def of_object(self, value: Foreign) -> Value:
        """What a name is that stands for an object; nothing of the user's is run to find it."""
        if isinstance(value, _PLAIN):
            return of_constant(value)
        if id(value) not in self.known:
            self.known[id(value)] = value, Value()  # should it hold itself
            self.known[id(value)] = value, self._of_object(value)
        return self.known[id(value)][1]

    def _of_object(self, value: Foreign) -> Value:
        tag: tuple[str, Foreign] = ("library", id(value))
        if isinstance(value, types.MethodType):
            self.of_object(value.__self__)
            found = self.of_object(value.__func__)
            own = frozenset(("method" if kind == "function" else kind, ref) for kind, ref in found.own)
            return found._replace(own=own)
        if isinstance(value, types.FunctionType):
            node = self.node_of(value.__code__)
            if node is not None:
                tag = ("function", node)
                self._closed(value, node)
        elif isinstance(value, type):
            kind = self._kind(value)
            if kind is not None:
                tag = ("class", kind)
                self._hold(vars(value), kind)
        elif isinstance(value, types.ModuleType):
            tag = ("module", value.__file__) if getattr(value, "__file__", "") in self.files else tag
        elif (kind := self._kind(type(value))) is not None:
            self.of_object(type(value))
            self._hold(getattr(value, "__dict__", {}))
            return self.instance(kind)
        elif type(value) is np.ndarray and value.dtype == object:
            return self._table([*value.flat])
        elif type(value) is np.ndarray or isinstance(value, np.generic):
            return Value(rough=STEEP, truth=value.dtype == bool)
        elif type(value) in _TABLES:
            return self._table(value)
        elif type(value).__module__.partition(".")[0] in ("functools", "numba") and hasattr(
            value, "__wrapped__"
        ):
            return self.of_object(value.__wrapped__)
        elif _of_a_library(value):
            pass
        elif str(type(value).__module__).startswith(_RUNS):
            return UNKNOWN  # what the runs put there; who only claims that home is believed less, never more
        elif isinstance(value, _GENERATORS):
            return Value(own=frozenset((GENERATOR,)))
        elif type(value).__module__.partition(".")[0] in FOLLOWED:
            return MADE._replace(rough=STEEP)
        else:
            return Value(rough=STEEP, own=UNKNOWN.own, inner=UNKNOWN.inner)
        self.objects[id(value)] = value
        return Value(own=frozenset((tag,)))

    def instance(self, kind: ast.AST) -> Value:
        """An object of a class of the user's; what a class of a library may keep in it is not seen."""
        made, own = self.kinds.get(kind), frozenset((("instance", kind),))
        above = () if made is None else made.__mro__[1:]
        held = (
            bool(getattr(kind, "bases", ())) if made is None else any(issubclass(c, _HOLDING) for c in above)
        )
        return Value(rough=STEEP, own=own, inner=UNKNOWN.inner) if held else Value(own=own)

    def has_generated_equality(self, kind: ast.AST | None) -> bool:
        """Whether objects of a class of the user's are compared by what no line of the file says."""
        made = None if kind is None else self.kinds.get(kind)
        if made is None:
            return bool(getattr(kind, "decorator_list", ()))
        return any("__eq__" in vars(base) for base in made.__mro__ if base is not object)

    def _closed(self, value: types.FunctionType, node: Function) -> None:
        """What a function holds of the scope around it: names and defaults."""
        found: list[tuple[Foreign, Foreign]] = []
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # it is empty
                found.append(((self.owner(self.outer[node], name), name), cell.cell_contents))
        placed = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        given = value.__defaults__ or ()
        pairs = [*zip(placed[len(placed) - len(given) :], given, strict=True)]
        pairs += [*(value.__kwdefaults__ or {}).items()]
        for key, held in [*found, *(((node, name), default) for name, default in pairs)]:
            self.held[key] = self.held.get(key, Value()) | self.of_object(held)

    def node_of(self, code: types.CodeType) -> Function | None:
        """Where a function is written; None where that is not known."""
        found = self.nodes_of(code)
        return found[0] if len(found) == 1 else None

    def nodes_of(self, code: types.CodeType) -> list[Function]:
        """Where it may be written: any of several in a line."""
        return self.coded.get((code.co_filename, code.co_name, code.co_firstlineno), [])

    def _hold(self, held: Mapping[str, Foreign], kind: ast.AST | None = None) -> None:
        """What an object has under its names; methods that a class defines are known by their statements."""
        for name, value in [*held.items()]:
            plain = value.fget if isinstance(value, property) else value
            plain = plain.__func__ if isinstance(plain, staticmethod | classmethod) else plain
            node = self.node_of(plain.__code__) if isinstance(plain, types.FunctionType) else None
            if node is None or self.outer[node] is not kind:
                found = UNKNOWN if isinstance(value, property) else self.of_object(plain)
                self.attributes[name] = self.attributes.get(name, Value()) | found

    def _table(self, value: Foreign) -> Value:
        """What a container holds."""
        mapping = isinstance(value, dict | types.MappingProxyType)
        parts = [*value, *value.values()] if mapping else [*value]  # keys may be asked for by position, too
        held = joined(self.of_object(one) for one in {id(one): one for one in parts}.values())
        own, inner = frozenset((LIST,)), held.own | held.inner
        if isinstance(value, SETS):
            own |= {SET}
            inner |= {TEXT} if None in value else NONE  # which lies somewhere else in another process
        return Value(rough=STEEP, own=own, inner=inner)

    def part(self, ref: int, name: str) -> Value:
        """What an attribute of an object of a library is; nothing of the user's is run to find it."""
        if (ref, name) not in self.parts:  # a method is another object each time
            there = inspect.getattr_static(self.objects[ref], name, UNKNOWN) is not UNKNOWN
            self.parts[ref, name] = self.of_object(getattr(self.objects[ref], name)) if there else UNKNOWN
        return self.parts[ref, name]

    def unbound(self, scope: ast.AST, name: str) -> Value:
        """What a name means that no statement of its file sets: what is global, or built in."""
        known = self.files[self.home[scope]].scope
        if name in known or hasattr(builtins, name):
            return self.of_object(known[name] if name in known else getattr(builtins, name))
        return UNKNOWN

    def is_plain(self, scope: ast.AST, name: str) -> bool:
        """Whether it is a global that no function sets, and no change can reach what it stands for."""
        known = self.files[self.home[scope]].scope
        is_global = isinstance(self.owner(scope, name), ast.Module | None) and name not in self.rebound
        return is_global and name in known and isinstance(known[name], _PLAIN)


def _taken_from_system(tree: ast.Module) -> Iterator[str]:
    """Names under which a file imports what may be another on another machine, or tomorrow."""
    for part in (node for node in walk(tree) if isinstance(node, ast.ImportFrom)):
        module = sys.modules.get(part.module or "")
        yield from (one.asname or one.name for one in part.names if is_of_system(module, one.name))


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """Nodes of a scope but not of those in it, kept as those of `walk` are."""
    found: list[ast.AST] | None = vars(scope).get("own")
    if found is None:
        found = vars(scope)["own"] = []
        waiting = [*ast.iter_child_nodes(scope)]
        while waiting:
            node = waiting.pop()
            found.append(node)
            if not isinstance(node, SCOPES):
                waiting += ast.iter_child_nodes(node)
    return found


def bound(node: ast.AST) -> Iterator[str]:
    """Names that a node gives a meaning in the scope where it stands."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def of_constant(value: Foreign) -> Value:
    """A plain value."""
    own = frozenset((TEXT,)) if isinstance(value, str | bytes) else NONE
    return Value(own=own, truth=isinstance(value, bool))


def names_always_set(steps: Iterable[ast.stmt]) -> set[str]:
    """Names, and attributes with a dot, that are set wherever the last of some statements is left behind."""
    found = set[str]()
    for step in steps:
        if isinstance(step, ast.If):
            found |= names_always_set(step.body) & names_always_set(step.orelse)
        elif isinstance(step, ast.Assign):
            found |= names_in(step, ast.Store)
    return found


def names_in(node: ast.AST, use: type[ast.expr_context]) -> set[str]:
    """Names, and attributes with a dot, that are read or set there."""
    parts = [one for one in walk(node) if isinstance(getattr(one, "ctx", None), use)]
    fixed = [one for one in parts if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant)]
    parts += [one.value for one in fixed]  # an entry at one place is as a name
    names = {one.id for one in parts if isinstance(one, ast.Name)}
    return names | {f".{one.attr}" for one in parts if isinstance(one, ast.Attribute)}


def name_of(node: ast.AST) -> str:
    """The name under which something stands; of an attribute with a dot."""
    return node.id if isinstance(node, ast.Name) else f".{getattr(node, 'attr', '')}"


def reached(edges: Mapping[_T, set[_T]], start: _T) -> set[_T]:
    """Where edges lead from a start, one after the other; the start itself only if they lead back."""
    found, waiting = set[_T](), {start}
    while waiting:
        waiting = {end for one in waiting for end in edges.get(one, ())} - found
        found |= waiting
    return found


def _of_a_library(value: Foreign) -> bool:
    """Whether it is a function that a library has, not an object that holds something of the user's."""
    if inspect.isroutine(value):
        bound = getattr(value, "__self__", None)  # None of what is no method
        drawing = isinstance(bound, _GENERATORS)
        return bound is None or drawing or isinstance(bound, types.ModuleType | type | np.ufunc)
    name = getattr(value, "__name__", None)
    home = sys.modules.get(str(getattr(value, "__module__", None)))
    named = isinstance(name, str) and getattr(home, name, None) is value
    known = getattr(sys.modules.get("scipy.stats"), str(getattr(value, "name", "")), None)  # a distribution
    return named or isinstance(value, np.ufunc) or (known is value and known is not None)


def parameters(function: Function) -> list[ast.arg]:
    """All parameters, those with stars last."""
    given = function.args
    stars = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *stars]
