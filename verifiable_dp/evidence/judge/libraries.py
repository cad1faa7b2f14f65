"""What code of libraries gives that runs as a file is imported: by what is written, and by what was heard."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import random
import sys
import threading
import types
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from verifiable_dp.core import pinned_source
from verifiable_dp.core.asked import FAILED, OPENED, Called, calls_at, opening_at, was_heard
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.trees import tree_of, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
INITIAL = ("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__")
SIMPLE = (int, float, complex, str, bytes, types.NoneType)
FIXED = (types.ModuleType, types.FunctionType, type, *SIMPLE)
HELD = (dict, list, tuple, set, frozenset)
_READ_FILES = frozenset(
    (
        *("json", "_json", "tomllib", "csv", "_csv", "pathlib", "pickle", "_pickle", "configparser"),
        *("io", "_io", "codecs", "encodings"),
    )
)
# Beside those that `values` knows: what these give follows from what they are given, or waits for others.
_ANSWER = frozenset(
    (
        *("re", "opendp", "diffprivlib", "sklearn", "contextvars", "_contextvars"),
        *("queue", "_queue", "weakref", "_weakref", "struct", "_struct", "array", "hashlib", "_hashlib"),
    )
)
_OPENS = frozenset(("open", "read_text", "read_bytes"))
_PLACED = frozenset(("pathlib", "posixpath", "ntpath", "genericpath"))
_RESOLVES = frozenset(("resolve", "realpath", "_path_normpath"))  # which follow links alone
_LOCKS = frozenset(("allocate_lock", "RLock"))
_SEEDING = frozenset(("__init__", "seed", "getrandbits"))  # how generators are made
_UNSET = (np.empty, np.empty_like, np.ndarray)  # whose entries are what the memory held
_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, np.random.SeedSequence)
MAKES = (*_GENERATORS, random.Random)
# What a method is called that draws: of whatever it is, it counts as one.
DRAWING = frozenset(
    n for one in (*_GENERATORS, random.Random, np.random.PCG64) for n in dir(one) if n[0] != "_"
)
DRAWING -= {"bit_generator", "spawn", "jumped", "seed", "setstate", "set_state", "spawn_key", "lock"}
DRAWING |= {"rvs"}


class Libraries:
    """What is known of the libraries that a file uses.

    Parameters
    ----------
    tree, scope, file
        Of the file.
    """

    def __init__(self, tree: ast.Module, scope: Mapping[str, Foreign], file: str) -> None:
        self.tree, self.scope, self.file = tree, scope, file
        self._strict = True  # whether what draws, or has an order by chance, is not settled
        self._placing = False  # whether where files lie counts as settled

    def _heard(self, step: Foreign) -> bool:
        """Whether all is settled that a statement of the module was heard to call as it ran."""
        known = calls_at(self.file, head(step)) if isinstance(step, ast.stmt) else ()
        left = [one for one in known if not self._allows(one)]
        return not left or all(self._allows(one, placing=one in _places(known)) for one in left)

    def _opens(self, node: ast.Call) -> bool:
        """Whether a call opens a file: as was heard, or, of a file that was not, by its name."""
        if was_heard(self.file):
            return (node.end_lineno, node.end_col_offset) in opening_at(self.file)
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in _OPENS

    def _allows(self, what: Called, *, placing: bool = False) -> bool:
        """Whether what a call gives follows from its arguments, or from files; leniently also from draws."""
        if what.name in (FAILED.name, OPENED.name):
            return what.name == OPENED.name
        first, _, last = what.name.partition(".")
        if what.owner is not None and issubclass(what.owner, MAKES):
            return not self._strict or what.name not in DRAWING
        thing = _named(what) if what.thing is None else what.thing
        root = (what.owner.__module__ if what.owner else values.home_of(thing)).partition(".")[0]
        if (what.deep or root in _PLACED) and (self._placing or placing):
            return not what.deep or (what.deep in _RESOLVES and what.name != "getcwd")
        if what.owner is not None:
            return not what.deep and (root in _READ_FILES | _ANSWER or values.is_pure(root))
        if root == "random" and last in _SEEDING and not what.deep:
            return True
        if root == "threading" and last:
            return not issubclass(getattr(threading, first, threading.Thread), threading.Thread)
        setting = not (what.takes or last or root in sys.stdlib_module_names)  # a library's
        return not (what.deep or setting) and self._of_a_library(thing)

    def _draws_of(self, node: ast.Call) -> bool:
        """Whether a library is handed a generator, of which it may draw, and not to make another one."""
        found = self._found(node.func)
        if found is None or values.kind_of(found) == "makes_draws" or not self._of_a_library(found):
            return False
        return any(map(self._gives, [*node.args, *(one.value for one in node.keywords)]))

    def _gives(self, node: ast.AST) -> bool:
        made = self._found(node.func) if isinstance(node, ast.Call) else None
        return isinstance(self._found(node), MAKES) or (
            made is not None and values.kind_of(made) == "makes_draws"
        )

    def _is_class(self, code: Foreign) -> bool:
        return isinstance(code, type) and self.scope.get(code.__name__) is code

    def _of_a_library(self, thing: Foreign) -> bool:
        owner = getattr(thing, "__self__", None)
        bound = owner is not None and not isinstance(owner, types.ModuleType)
        kind = owner if isinstance(owner, type) else type(owner)
        root = (kind.__module__ if bound else values.home_of(thing)).partition(".")[0]
        if self._strict and (values.same(thing, _UNSET) or values.same(thing, values.SETS)):
            return False
        if values.dates(thing):
            return False
        if isinstance(thing, type) and issubclass(thing, threading.Thread):
            return False  # what it runs comes later, beside other code
        if root in ("threading", "_thread"):
            return isinstance(thing, type) or thing.__name__ in _LOCKS
        if root in _READ_FILES | _ANSWER or thing is open or (self._placing and root in _PLACED):
            return True
        refused = ("unknown", "reflection", *(("draws",) if self._strict else ()))
        if bound and not values.is_pure(root):
            return not self._strict and values.kind_of(thing) == "draws"  # as those of the module `secrets`
        return bound or values.kind_of(thing) not in refused

    def _found(self, node: ast.AST) -> Foreign:
        """The object that a name, or a name with attributes, stands for; None if it is not of a library."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id, getattr(builtins, node.id, None))
        owner = self._found(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None:
            return None
        kind = owner if isinstance(owner, type) else type(owner)
        pythons = kind.__module__.partition(".")[0] in sys.stdlib_module_names
        there = inspect.getattr_static(owner, node.attr, None)  # type: ignore[attr-defined]
        if not (isinstance(owner, types.ModuleType) or pythons):
            return there if callable(there) else None  # nothing of the user's is run to find it
        return None if there is None else getattr(owner, node.attr)  # type: ignore[attr-defined]


def _places(known: Iterable[Called]) -> list[Called]:
    """Of calls, those that say where a file lies that is opened there: what is read there a record knows."""
    found, ends = list[Called](), {one: one.position or (0, 0) for one in known}
    for opens in (one for one in ends if one.name == OPENED.name):
        file = "" if opens.code is None else opens.code.co_filename
        calls = (one for one in walk(tree_of("".join(linecache.getlines(file)))) if isinstance(one, ast.Call))
        for call in (one for one in calls if (one.end_lineno, one.end_col_offset) == ends[opens]):
            span = (call.lineno, call.col_offset), ends[opens]
            found += [one for one, end in ends.items() if one.code is opens.code and span[0] <= end < span[1]]
    return found


def _named(what: Called) -> Foreign:
    """A function in Python of which only the name is known."""

    def function() -> None:
        """Nothing is known of what it does."""

    function.__module__, function.__name__ = what.module, what.name.rpartition(".")[2]
    return function


def head(step: Foreign) -> list[int]:
    """The lines of a statement that are of no statement in it; of a class, all."""
    inner = [one for one in walk(step) if isinstance(one, ast.stmt) and one is not step]
    inner = [] if isinstance(step, ast.ClassDef) else inner
    taken = {line for one in inner for line in range(first_line(one), (one.end_lineno or 0) + 1)}
    return [n for n in range(first_line(step), step.end_lineno + 1) if n == step.lineno or n not in taken]


def first_line(step: Foreign) -> int:
    """Where a statement begins: with its decorators."""
    return int(min([step.lineno, *(one.lineno for one in getattr(step, "decorator_list", ()))]))


def root_of(node: ast.AST) -> ast.AST:
    """What attributes and entries are of."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node


@functools.cache
def is_installed(file: str) -> bool:
    """Whether a file is none of the user's."""
    return pinned_source.installed(Path(file).parent)


def stored(step: ast.AST) -> list[ast.Name]:
    """Names that are set in a statement."""
    return [one for one in walk(step) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]


def is_of(thing: Foreign, attribute: str) -> bool:
    """Whether a class that is not a library's says what an attribute of an object is."""
    home = getattr(sys.modules.get(type(thing).__module__), "__file__", None) or "/"
    return attribute in vars(type(thing)) and not is_installed(home)
