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
from collections.abc import Iterator, Mapping

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
_DONE_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_STARTS = ("__name__", "__debug__", "__spec__", "__package__", "__doc__")


class Settled:
    """Which names of a file, attributes of its classes and defaults of its functions are not settled.

    Parameters
    ----------
    tree, scope
        Of the file.
    """

    def __init__(self, tree: ast.Module, scope: Mapping[str, Foreign]) -> None:
        self.scope, self.unsettled = scope, set[str]()
        self.functions = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        self._asked = set[str]()
        before = -1
        while len(self.unsettled) > before:
            before = len(self.unsettled)
            self.unsettled |= {name for step in tree.body for name in self._set_by(step, under=False)}

    def _set_by(self, step: ast.AST, *, under: bool) -> Iterator[str]:
        """Names that a statement sets to what is not settled, or as often as that says."""
        if isinstance(step, ast.Import | ast.ImportFrom):
            return
        parts = [*ast.iter_child_nodes(step)]
        if isinstance(step, _DONE_LATER):
            defaults = [*step.args.defaults, *step.args.kw_defaults]
            placed = [*step.args.posonlyargs, *step.args.args][-len(step.args.defaults) or None :]
            named = zip([*placed, *step.args.kwonlyargs], defaults, strict=False)
            yield from (one.arg for one, given in named if given is not None and not self._is(given))
            return
        here = under or not all(self._is(one) for one in parts if isinstance(one, ast.expr))
        if here and not isinstance(step, ast.ClassDef):
            names = (one for one in ast.walk(step) if isinstance(one, ast.Name))
            yield from (one.id for one in names if isinstance(one.ctx, ast.Store))
        for part in parts:
            if isinstance(part, ast.stmt | ast.ExceptHandler | ast.withitem | ast.match_case):
                yield from self._set_by(part, under=here and not isinstance(step, ast.ClassDef))

    def _is(self, node: ast.AST) -> bool:
        """Whether an expression, or all of a function, is settled."""
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return node.id not in self.unsettled and node.id not in _OF_STARTS
        if isinstance(node, ast.Attribute) and isinstance(owner := self._found(node.value), types.ModuleType):
            return not values.is_of_system(owner, node.attr)
        if isinstance(node, ast.Call) and not self._answers(node.func):
            return False
        return all(map(self._is, ast.iter_child_nodes(node)))

    def _answers(self, called: ast.expr) -> bool:
        """Whether a call gives what follows from its arguments, from files, or from draws."""
        function = self._found(called)
        if function is None:  # a method of what is looked at by itself
            return True
        name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
        if name in self.functions and isinstance(function, types.FunctionType | type):
            first = name not in self._asked
            self._asked.add(name)
            return not first or all(map(self._is, self.functions[name].body))
        bound = owner is not None and not isinstance(owner, types.ModuleType)
        kind = owner if isinstance(owner, type) else type(owner)
        root = (kind.__module__ if bound else values.home_of(function)).partition(".")[0]
        if root in _READ_FILES | _ANSWER or function is open:
            return True
        return values.is_pure(root) if bound else values.kind_of(function) not in ("unknown", "reflection")

    def _found(self, node: ast.expr) -> Foreign:
        """The object that a name, or a name with attributes, stands for; None if it is not of a library."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id, getattr(builtins, node.id, None))
        owner = self._found(node.value) if isinstance(node, ast.Attribute) else None
        kind = owner if isinstance(owner, type) else type(owner)
        known = (
            isinstance(owner, types.ModuleType)
            or kind.__module__.partition(".")[0] in sys.stdlib_module_names
        )
        there = inspect.getattr_static(owner, node.attr, None) if known and owner is not None else None  # type: ignore[attr-defined]
        return None if there is None else getattr(owner, node.attr)  # type: ignore[attr-defined]
