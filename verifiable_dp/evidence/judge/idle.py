"""What code that neither ran nor was called by the import may change: anybody may call it in production."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Mapping, Set
from typing import Self

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.libraries import (
    FIXED,
    FUNCTIONS,
    HELD,
    INITIAL,
    Libraries,
    is_of,
    root_of,
    stored,
)
from verifiable_dp.evidence.judge.trees import walk

_NAMED = (*FUNCTIONS, ast.ClassDef)


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
        self._code = {one.name: one for one in tree.body if isinstance(one, _NAMED)}
        self._methods = dict[str, list[ast.AST]]()
        self._class_of = dict[ast.AST, str]()
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

    def _started(self, name: str) -> Iterator[ast.AST]:
        """What runs where this is called: functions and methods, or how an object of a class is made."""
        found = self._code.get(name)
        yield from self._methods.get(name, ())
        if isinstance(found, ast.ClassDef):
            yield from (one for one in found.body if getattr(one, "name", "") in INITIAL)
        elif found is not None:
            yield found

    def _switched(self, body: Foreign) -> None:
        """Keep names and attributes that a function sets, or changes in place."""
        every = walk(body)
        declared = {name for one in every if isinstance(one, ast.Global) for name in one.names}
        given = [one.arg for one in every if isinstance(one, ast.arg)]
        local = {one.id for one in stored(body)} | {*given} - declared
        self.names |= declared & {one.id for one in stored(body)}
        for part in every:
            kept = isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load)
            what = part.func if isinstance(part, ast.Call) else None
            changes = isinstance(what, ast.Attribute) and what.attr in values.CHANGES
            if not (kept or changes):
                continue
            root = root_of(part if what is None else what)
            name = getattr(root, "id", "")
            if name in self.scope.keys() - (local - declared) and not isinstance(self.scope[name], FIXED):
                self.names.add(name)
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                self._set_attribute(part, body if given[:1] == [name] else None)

    def _set_attribute(self, node: Foreign, method: ast.AST | None) -> None:
        """Keep an attribute of another module, of a class, or of an object that the module keeps."""
        owner = self.scope.get(node.value.id)
        other = self.of(owner) if isinstance(owner, types.ModuleType) else None
        if other is not None:
            other.names.add(node.attr)
        if isinstance(owner, type) or (method is not None and self._has(node.attr, method)):
            self.attributes.add(node.attr)

    def _has(self, attribute: str, method: ast.AST) -> bool:
        """Whether an object that has this attribute, and may have the method, is a global, or in one."""
        kind = self.scope.get(self._class_of.get(method, ""), object)
        kind = kind if isinstance(kind, type) else object
        held = [*self.scope.values()]
        held += [one for v in held if isinstance(v, HELD) for one in (v.values() if type(v) is dict else v)]
        objects = (one for one in held if isinstance(one, kind) and not isinstance(one, (*FIXED, *HELD)))
        return any(attribute in getattr(one, "__dict__", ()) or is_of(one, attribute) for one in objects)
