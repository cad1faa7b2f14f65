"""What a file's names are set from while it is imported: in production that may be something else.

A name is settled if all that sets it are constants, other settled names, and functions that answer from their
arguments, draw, or read files, which a record knows by their digests. Whatever asks the clock, the system or
the environment, or is not known, is not.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import types
from collections.abc import Mapping

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values

_READ_FILES = frozenset(
    ("json", "_json", "tomllib", "csv", "_csv", "pathlib", "pickle", "_pickle", "configparser", "io", "_io")
)
# Beside those that `values` knows: what these give follows from what they are given, or waits for others.
_ANSWER = frozenset(
    (
        *("re", "opendp", "diffprivlib", "sklearn", "contextvars", "_contextvars", "threading", "_thread"),
        *("queue", "_queue", "weakref", "_weakref", "struct", "_struct", "array", "hashlib", "_hashlib"),
    )
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_STARTS = ("__name__", "__debug__", "__spec__", "__package__", "__doc__")
_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WRAPPED = ("__wrapped__", "__func__", "func")  # where what is around a function holds it


class Settled:
    """What of a file is not settled: names of its globals, attributes of its classes, defaults of functions.

    Code that is mentioned counts as called: whoever is handed it may call it.

    Parameters
    ----------
    tree, scope
        Of the file.

    Attributes
    ----------
    names, attributes
        Those that are not.
    defaults
        Each by its function and parameter.
    """

    def __init__(self, tree: ast.Module, scope: Mapping[str, Foreign]) -> None:
        self.scope = scope
        self.names, self.attributes = set[str](), set[str]()
        self.defaults = set[tuple[ast.AST, str]]()
        self._code = {one.name: one for one in tree.body if isinstance(one, _NAMED)}
        self._known = dict[ast.AST, bool]()
        before = -1
        while len(self.names) + len(self._known) > before:  # what is not settled stays so
            before = len(self.names) + len(self._known)
            for step in tree.body:
                self._follow(step, self.names, under=False)
            self._known = {node: found for node, found in self._known.items() if not found}
        self.names &= scope.keys()  # others are set where the file is the program

    def _follow(self, step: ast.AST, kept: set[str], *, under: bool) -> None:
        """Keep what a statement sets to something that is not settled, or as often as that says."""
        if isinstance(step, _FUNCTIONS):
            given = step.args
            placed = [*given.posonlyargs, *given.args][-len(given.defaults) or None :]
            pairs = zip([*placed, *given.kwonlyargs], [*given.defaults, *given.kw_defaults], strict=False)
            self.defaults |= {(step, one.arg) for one, default in pairs if not self._is(default)}
            return
        parts = [*ast.iter_child_nodes(step)]
        if isinstance(step, ast.ClassDef):
            kept = self.attributes
        else:
            under = under or not all(self._is(one) for one in parts if isinstance(one, ast.expr))
            names = [one for one in ast.walk(step) if under and isinstance(one, ast.Name)]
            kept |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
        for part in parts:
            if not isinstance(part, ast.expr):
                self._follow(part, kept, under=under)

    def _is(self, node: ast.AST | None) -> bool:
        """Whether an expression, or all of a function, is settled."""
        if node is None:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            known = node.id not in self.names and node.id not in _OF_STARTS
            return known and self._answers(self._found(node))
        if isinstance(node, ast.Attribute):
            owner = self._found(node.value)
            if isinstance(owner, types.ModuleType):
                return not values.is_of_system(owner, node.attr) and self._answers(self._found(node))
            if not self._answers(self._found(node)):
                return False
        return all(map(self._is, ast.iter_child_nodes(node)))

    def _answers(self, thing: Foreign) -> bool:
        """Whether code gives what follows from its arguments, from files, or from draws."""
        if not callable(thing):
            return True
        code = thing if isinstance(thing, types.FunctionType | type) else type(thing)
        node = self._code.get(code.__name__)
        if node is not None and (getattr(code, "__globals__", None) is self.scope or self._is_class(code)):
            if node not in self._known:
                self._known[node] = True  # should it call itself
                self._known[node] = all(map(self._is, node.body))
            return self._known[node]
        inside = [getattr(thing, name, None) for name in _WRAPPED]
        return self._of_a_library(thing) and all(map(self._answers, inside))

    def _is_class(self, code: Foreign) -> bool:
        return isinstance(code, type) and self.scope.get(code.__name__) is code

    def _of_a_library(self, thing: Foreign) -> bool:
        owner = getattr(thing, "__self__", None)
        bound = owner is not None and not isinstance(owner, types.ModuleType)
        kind = owner if isinstance(owner, type) else type(owner)
        root = (kind.__module__ if bound else values.home_of(thing)).partition(".")[0]
        if root in _READ_FILES | _ANSWER or thing is open:
            return True
        return values.is_pure(root) if bound else values.kind_of(thing) not in ("unknown", "reflection")

    def _found(self, node: ast.expr) -> Foreign:
        """The object that a name, or a name with attributes, stands for; None if it is not of a library."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id, getattr(builtins, node.id, None))
        owner = self._found(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None:
            return None
        kind = owner if isinstance(owner, type) else type(owner)
        pythons = kind.__module__.partition(".")[0] in sys.stdlib_module_names
        if not (isinstance(owner, types.ModuleType) or pythons):
            return None
        there = inspect.getattr_static(owner, node.attr, None)  # type: ignore[attr-defined]
        return None if there is None else getattr(owner, node.attr)  # type: ignore[attr-defined]
