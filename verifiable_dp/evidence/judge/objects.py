"""Attributes that are the same number in all objects of a class, whichever of them a draw chooses.

The rules follow an attribute by its name, over all objects. What is public and follows no turn is the same
wherever one expression of one call of a function is computed. So an attribute that one statement sets is one
number if the class is made by one call, whose function is called by one call, and so on: then each object
got it of the same expressions. What else could give it another value is looked for in the text: whoever
names the class only calls it, it has no class above it, and no class has anything else of that name.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from verifiable_dp.evidence.judge.calls import Calls
from verifiable_dp.evidence.judge.flow import INITIAL
from verifiable_dp.evidence.judge.values import Value

# What makes attributes, or objects of a class that no text names.
_MAKING = frozenset(
    ("__getattr__", "__getattribute__", "__setattr__", "__new__", "__class__", "__subclasses__", "__slots__")
)


class Objects(Calls):
    """Follows attributes of objects that a draw chooses."""

    def is_single(self, base: Value, name: str) -> bool:
        """Whether an attribute is the same number in all objects that it is read of."""
        value = self.stored(name) or Value()
        number = value._replace(bent=False, many=False, way=0, truth=False) == Value()
        (kind, ref), *others = base.own or [("", None)]
        if not number or others or kind != "instance" or not isinstance(ref, ast.ClassDef):
            return False
        inits = self.methods_of(ref, INITIAL[0])
        once = len(self.kept.get(name, ())) == len(inits) == 1 and self.called_once(inits[0])
        return once and not self.catches and self.is_plain(ref) and not self.is_set_elsewhere(name)

    def called_once(self, function: ast.AST, *inside: ast.AST) -> bool:
        """Whether one call in the text is all that calls a function, and so on outwards."""
        around = [one for one, called in self.calls.items() if function in called]
        calls = len(self.callers.get(function, ())) + (function in self.filled)
        outer = (one not in inside and self.called_once(one, function, *inside) for one in around)
        return calls < 2 and function not in inside and all(outer)

    def is_plain(self, kind: ast.ClassDef) -> bool:
        """Whether a class has none above it, and whoever names it calls it."""
        above = kind.bases or kind.decorator_list or kind.keywords or self.names.begins_again
        return not above and kind.name in self.only_called

    @functools.cached_property
    def only_called(self) -> frozenset[str]:
        """Names of classes that stand nowhere in the files but where they are called, or in annotations."""
        trees = [file.tree for file in self.names.files.values()]
        named, elsewhere = set[str](), set[str]()
        for node in (node for tree in trees for node in _evaluated(tree)):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.Name) and not (isinstance(node, ast.Call) and part is node.func):
                    elsewhere.add(part.id)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                elsewhere |= {node.name} & named
                named.add(node.name)
            else:
                elsewhere.add(str(getattr(node, "value", "")) if isinstance(node, ast.Constant) else "")
                elsewhere.add(getattr(node, "name", "") or "")
            elsewhere |= {getattr(node, kind, "") or "" for kind in ("attr", "arg", "rest", "asname")}
            elsewhere |= {*node.names} if isinstance(node, ast.Global | ast.Nonlocal) else set()
        return frozenset() if _MAKING & (named | elsewhere) else frozenset(named - elsewhere)

    def is_set_elsewhere(self, name: str) -> bool:
        """Whether a class, or an object that was there before, may have something of that name."""
        classes = [one for found in self.names.classes.values() for one in found]
        held = any(name in self.names.local[one] for one in classes)
        return held or "__" in name or name in self.names.attributes or name in self.names.methods


def _evaluated(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes but those of annotations."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        said = (getattr(node, "annotation", None), getattr(node, "returns", None))
        waiting += [one for one in ast.iter_child_nodes(node) if one not in said]
