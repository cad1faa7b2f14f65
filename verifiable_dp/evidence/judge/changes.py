"""What a statement that is not settled may change while a file is imported, also by other names."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Self

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.idle import SETS, Aliases, Idle
from verifiable_dp.evidence.judge.libraries import (
    FIXED,
    FUNCTIONS,
    HELD,
    INITIAL,
    MAKES,
    SIMPLE,
    first_line,
    is_installed,
    root_of,
    stored,
)
from verifiable_dp.evidence.judge.trees import walk

_REACHES, _SPACES = (exec, eval, *SETS), (globals, locals, vars)
_MOST = 10_000  # objects that are looked into


class Changes(Idle):
    """Names and attributes that statements of a file may change.

    Attributes
    ----------
    others
        What is known of other files, by file.
    changed
        Names of what is changed after it was set.
    """

    def __init__(
        self, tree: ast.Module, scope: Mapping[str, Foreign], file: str, others: Mapping[str, Changes]
    ) -> None:
        super().__init__(tree, scope, file)
        self.others: Mapping[str, Changes] = others
        self.changed, self._touched = set[str](), set[ast.AST]()
        self._held = Aliases(self, tree)
        self._written = dict[tuple[str, int], list[Foreign]]()
        for one in (one for one in walk(tree) if isinstance(one, (*FUNCTIONS, ast.Lambda))):
            place = getattr(one, "name", "<lambda>"), first_line(one)
            self._written.setdefault(place, []).append(one)

    def _home(self, code: Foreign) -> Self | None:
        """What is known of the file in which a function or a class is written."""
        return self._of_name(str(getattr(code, "__module__", "")))

    def _of_name(self, name: str) -> Self | None:
        module = sys.modules.get(name)
        return None if module is None else self.of(module)

    def _bodies(self, code: types.CodeType) -> list[Foreign]:
        """Functions that begin where code does, which has a name of its own; none of a class."""
        return self._written.get((code.co_name, code.co_firstlineno), [])

    def _touch(self, step: ast.AST, local: frozenset[str] = frozenset()) -> None:
        """Keep names of what a statement may change, also by the functions that it mentions."""
        for node in walk(step):
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                self._change(node, local)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not local:
                    self.attributes.add(node.attr)
            elif isinstance(node, ast.Call):
                self._called(node, local)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._change(node.target, local)
            elif isinstance(node, ast.Name | ast.Attribute):
                found = self._found(node)
                home = self._home(found) if is_code(found) else None
                named = None if home is None else home._code.get(found.__name__)
                if home is not None and named is not None:
                    home._touch_in(named)
                for one in self._methods.get(node.attr, ()) if isinstance(node, ast.Attribute) else ():
                    self._touch_in(one)

    def _touch_in(self, body: Foreign) -> None:
        """Keep names of what a function may change."""
        if body in self._touched:
            return
        self._touched.add(body)
        every = walk(body)
        declared = {name for one in every if isinstance(one, ast.Global) for name in one.names}
        inner = {one.id for one in stored(body)} | {one.arg for one in every if isinstance(one, ast.arg)}
        self.names |= declared
        for part in body_of(body):
            self._touch(part, frozenset(inner - declared))

    def _touch_code(self, code: types.CodeType) -> None:
        """Keep names of what a function may change that ran, whatever has called it."""
        for home in [one for one in self.others.values() if one.file == code.co_filename]:
            for body in home._bodies(code):
                home._touch_in(body)
                if getattr(body, "name", "") not in INITIAL:  # which sets what is new
                    self.attributes |= {*_stored_in(body)}

    def _called(self, node: ast.Call, local: frozenset[str]) -> None:
        """Keep what a call may change: that whose method it is, and what it is given."""
        what, given = node.func, [*enumerate(node.args), *((one.arg, one.value) for one in node.keywords)]
        found, root = self._found(what), root_of(what)
        owner = self._found(root)
        of_module = isinstance(self._found(getattr(what, "value", what)), types.ModuleType | type)
        if isinstance(what, ast.Attribute) and not of_module:
            kept = isinstance(owner, (*HELD, np.ndarray)) and not values.may_write(what.attr)
            space = isinstance(root, ast.Call) and values.same(self._found(root.func), _SPACES)
            if not (kept or (isinstance(owner, types.ModuleType) and self.of(owner) is None)):
                self._change(what.value, local, whole=space and values.may_write(what.attr))
        if values.same(found, _REACHES):  # in a main block, too, where names are others
            self._change(node.args[0] if values.same(found, SETS) and node.args else node, local, whole=True)
        known = found is not None and self._of_a_library(found)
        for at, one in given:
            if not known or values.writes(found, at):
                self._change(one, local)

    def _change(self, node: ast.AST, local: frozenset[str], *, whole: bool = False) -> None:
        """Keep the name of what is changed, of a module's too; all of them if anything may be."""
        root, stores = root_of(node), not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        there = self._found(root)
        of_all = isinstance(root, ast.Call) and values.same(self._found(root.func), _SPACES)
        if not local and not of_all:  # also what is in it, or it is in, by other names
            self.changed |= {n for n in self._held.of(root) if self._changeable(self.scope.get(n))}
        if isinstance(root, ast.Name) and there is not sys:
            theirs = self.of(there) if isinstance(there, types.ModuleType) else None
            if theirs is not None:
                theirs.changed |= {one.attr for one in walk(node) if isinstance(one, ast.Attribute)}
                theirs.names |= theirs.changed
            elif root.id not in local and (stores or whole or self._changeable(there)):
                self.changed.add(root.id)
        elif stores or whole:  # globals()["X"] = ...
            self.changed |= {n for n, one in self.scope.items() if not isinstance(one, types.ModuleType)}
        self.names |= self.changed

    def _changeable(self, thing: Foreign) -> bool:
        """Whether code that is given an object may change it: classes of the code, too."""
        return self._is_class(thing) or not isinstance(thing, (*FIXED, *MAKES))


def _stored_in(code: ast.AST) -> Iterator[str]:
    """Attributes that code sets, or changes in place."""
    for one in walk(code):
        node = one.func.value if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) else one
        changes = node is not one and one.func.attr in values.CHANGES  # type: ignore[attr-defined]
        if changes or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            while isinstance(node, ast.Subscript):
                node = node.value
            if isinstance(node, ast.Attribute):
                yield node.attr


def body_of(code: Foreign) -> list[Foreign]:
    """What a function, a class or a lambda does."""
    return [code.body] if isinstance(code, ast.Lambda) else code.body


def is_code(thing: Foreign) -> bool:
    """Whether it is a function in Python, or a class."""
    return isinstance(thing, types.FunctionType | type)


def inside(thing: Foreign) -> dict[int, Foreign]:
    """What is in an object, by address: containers, arrays, code, and objects of users' classes."""
    found, waiting = dict[int, Foreign](), [thing]
    while waiting and len(found) < _MOST:
        one = waiting.pop()
        if id(one) in found or isinstance(one, SIMPLE):
            continue
        found[id(one)] = one
        if isinstance(one, (*FIXED, *MAKES)):
            continue
        if isinstance(one, HELD):
            waiting += [*one, *(one.values() if isinstance(one, dict) else ())]
        elif not is_installed(getattr(sys.modules.get(type(one).__module__), "__file__", None) or "/"):
            waiting += [*getattr(one, "__dict__", {}).values()]
    return found
