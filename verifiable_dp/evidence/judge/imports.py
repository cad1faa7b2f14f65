"""What a file's names are set from while it is imported: in production that may be something else.

A name is settled if all that sets it, or changes what it holds, are constants, other settled names, and
functions that answer from their arguments or read files, which a record knows by their digests. Whatever asks
the clock, the system or the environment, draws, goes through a set, or is not known, is not. What a statement
does that is not settled itself, asserts something, or stands under a condition that is not settled, counts as
done to all that it may change, also in functions that it mentions. A generator may be made: what it gives is
drawn when code runs.
"""

from __future__ import annotations

import ast
import collections
import collections.abc
import functools
import importlib.util
import itertools
import linecache
import math
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

import numpy as np

from verifiable_dp.core.asked import functions_at, was_heard
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.changes import Changes, body_of, inside, is_code
from verifiable_dp.evidence.judge.libraries import (
    DRAWING,
    FIXED,
    FUNCTIONS,
    HELD,
    INITIAL,
    MAKES,
    head,
    is_installed,
    root_of,
    stored,
)
from verifiable_dp.evidence.judge.trees import tree_of, walk

_OF_STARTS = frozenset(("__name__", "__debug__", "__spec__", "__package__", "__doc__", "__builtins__"))
_OF_PLACES = frozenset(("__file__", "__path__", "__cached__", "__loader__"))
_INSIDE = frozenset(
    ("__dict__", "__defaults__", "__kwdefaults__", "__annotations__", "__closure__", "__code__")
)
_LOOKS = (isinstance, issubclass, callable, hasattr, all, any, math.isfinite, np.isfinite, np.all, np.any)
_IMPORTS = (ast.Import, ast.ImportFrom)
_WRAPPED = ("__wrapped__", "__func__", "func")  # where what is around a function holds it
_WAITING = (*MAKES, types.FunctionType, functools.partial, type, set, frozenset)
_HOLD = (
    functools.partial,
    collections.deque,
    dict.fromkeys,
    types.MappingProxyType,
)  # beside those of `values`


class Settled(Changes):
    """What of a file is not settled: names of its globals, attributes of its classes, defaults of functions.

    Code that is handed to other code counts as called, too.

    Parameters
    ----------
    tree, scope, file
        Of the file.
    known
        Those of other files, by file: what this one imports from is added.

    Attributes
    ----------
    names, attributes
        Those that are not.
    partly
        Names of classes of which an attribute is not.
    defaults
        Each by its function and parameter.
    chosen
        Functions and classes of which something that is not says whether they are there.
    """

    def __init__(
        self,
        tree: ast.Module,
        scope: Mapping[str, Foreign],
        file: str = "",
        known: dict[str, Settled] | None = None,
    ) -> None:
        self.others: dict[str, Settled] = {} if known is None else known
        super().__init__(tree, scope, file, self.others)
        self.chosen = set[ast.AST]()
        calls = (one for one in walk(tree) if isinstance(one, ast.Call))
        self._handed = {one.id for call in calls for one in walk(call) if isinstance(one, ast.Name)}
        self._drawn = set[str]()  # names of which only that is not
        self._placed = set[str]()  # names of which only that is not
        self.partly = set[str]()  # classes of which an attribute is not
        self._known = dict[tuple[ast.AST, bool], bool]()
        self.others[file] = self
        self._again()

    def _again(self) -> bool:
        """Go through all statements until nothing changes; whether anything has."""
        first = before = self._size()
        while True:
            for step in self.tree.body:
                self._follow(step, self.names, self.scope)
            self._known = {node: found for node, found in self._known.items() if not found}
            self.names &= self.scope.keys()  # others are set where the file is the program
            if self._size() == before:
                return before > first
            before = self._size()

    def _size(self) -> int:
        found = (
            self.names,
            self._drawn,
            self._placed,
            self.partly,
            self._known,
            self.attributes,
            self.defaults,
            self.chosen,
        )
        return sum(map(len, found))

    def of(self, module: types.ModuleType) -> Settled | None:
        """What of another module is not settled; None of one that is installed."""
        file = getattr(module, "__file__", None) or ""
        if file not in self.others and file.endswith(".py") and not is_installed(file):
            try:
                tree = tree_of("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError):
                return None
            return Settled(tree, vars(module), file, self.others)
        return self.others.get(file)

    def _heard(self, step: Foreign) -> bool:
        """Whether all is settled that a statement was heard to call, and that functions do which ran then."""
        ran = functions_at(self.file, head(step)) if isinstance(step, ast.stmt) else ()
        return super()._heard(step) and all(map(self._of_code, ran))

    def _of_code(self, code: types.CodeType) -> bool:
        """Whether all is settled that a function does which ran, of this file or another."""
        homes = [one for one in self.others.values() if one.file == code.co_filename]
        each = ((home, body) for home in homes for body in home._bodies(code))
        return bool(homes) and all(home._asked(self._strict, home._runs, body) for home, body in each)

    # ------------------------------------------------------------ statements

    def _follow(
        self,
        step: ast.AST,
        kept: set[str],
        holder: Mapping[str, Foreign],
        *,
        under: bool = False,
        done: bool = False,
    ) -> None:
        """Keep what a statement sets to something that is not settled, or as often as that says.

        What it may change is `done` where that holds of a statement around it.
        """
        parts = [*ast.iter_child_nodes(step)]
        if isinstance(step, FUNCTIONS):
            self._defined(step, kept, under=under)
            return
        if isinstance(step, ast.Import | ast.ImportFrom):
            under = under or not self._heard(step)
            kept |= {name for name, settled in self._imported(step) if under or not settled}
            return
        if isinstance(step, ast.ClassDef):
            outer = self._heard(step) and all(self._is(one, True) for one in (*step.bases, *step.keywords))
            if under or not (outer and self._decorates(step)):
                kept.add(step.name)
                self.chosen.add(step)
            if any(one.id in self.attributes for one in stored(step)):
                self.partly.add(step.name)
            kept, holder = self.attributes, getattr(holder.get(step.name), "__dict__", {})
        else:
            own = [one for one in parts if isinstance(one, ast.expr)]
            settled = not under and not isinstance(step, ast.Assert) and self._heard(step)
            settled = settled and all(map(self._is, own))
            if not settled and not under and self._waits(step, holder):
                self._drawn |= {one.id for one in stored(step)}
                return
            if not settled and not under and self._is_of_places(step, holder):
                self._placed |= {one.id for one in stored(step)}
                return
            if not settled and not done:
                kept |= {one.id for one in stored(step)}
                if not (_is_plain(step) and self._leniently(step)):
                    self._touch(step)
                    for code in functions_at(self.file, head(step)) if isinstance(step, ast.stmt) else ():
                        self._touch_code(code)
            under, done = not settled or self._may_fail(step), not settled
        for part in parts:
            if not isinstance(part, ast.expr):
                self._follow(part, kept, holder, under=under, done=done)

    def _defined(self, step: Foreign, kept: set[str], *, under: bool) -> None:
        """Keep a function that may be another one, and defaults that may."""
        if under or not self._decorates(step):
            kept.add(step.name)
        self.chosen |= {step} if under else set()
        given = step.args
        placed = [*given.posonlyargs, *given.args][-len(given.defaults) or None :]
        pairs = zip([*placed, *given.kwonlyargs], [*given.defaults, *given.kw_defaults], strict=False)
        heard = bool(step.decorator_list) or self._heard(step)
        self.defaults |= {(step, one.arg) for one, default in pairs if not (heard and self._is(default))}

    def _decorates(self, step: Foreign) -> bool:
        """Whether what is around a function or a class is settled: it is called, and may give another one."""
        around = step.decorator_list
        return not around or (self._heard(step) and all(self._is(one, True) for one in around))

    def _is_of_places(self, step: ast.AST, holder: Mapping[str, Foreign]) -> bool:
        """Whether a statement says where files lie: what is read from there a record knows."""
        paths = all(isinstance(holder.get(one.id), PurePath | str) for one in stored(step))
        return _is_plain(step) and paths and self._by_place(step)

    def _by_place(self, node: ast.AST) -> bool:
        before, self._placing = self._placing, True
        try:
            return self._is(node)
        finally:
            self._placing = before

    def _may_fail(self, step: ast.AST) -> bool:
        """Whether a statement goes on where something has failed that may not elsewhere, as an import may."""
        if not isinstance(step, ast.Try | ast.With):  # whose manager may go on, too
            return False
        if isinstance(step, ast.Try) and all(isinstance(one.body[-1], ast.Raise) for one in step.handlers):
            return False
        imports = (one for part in step.body for one in walk(part) if isinstance(one, _IMPORTS))
        return any(imports) or not all(map(self._is, step.body))

    def _waits(self, step: ast.AST, holder: Mapping[str, Foreign]) -> bool:
        """Whether a statement makes generators, or sets of which code tells that they have no order."""
        waiting = _is_plain(step) and all(_is_waiting(holder.get(one.id)) for one in stored(step))
        return waiting and self._leniently(step)

    def _leniently(self, node: ast.AST | None) -> bool:
        """Whether all is settled but what is drawn, and the order of sets."""
        return self._asked(False, self._is, node)

    def _asked(self, strict: bool, ask: Callable[[Foreign], bool], what: Foreign) -> bool:
        before, self._strict = self._strict, strict
        try:
            return ask(what)
        finally:
            self._strict = before

    def _imported(self, step: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, bool]]:
        """Names that a statement imports, and whether each is settled in the module that it is from."""
        if isinstance(step, ast.Import):
            for one in step.names:
                for name in _prefixes(one.name):
                    self._of_name(name)
                yield one.asname or one.name.partition(".")[0], True
            return
        package = str(self.scope.get("__package__") or "")
        try:
            wanted = importlib.util.resolve_name("." * step.level + (step.module or ""), package)
        except (ImportError, ValueError):
            wanted = ""
        module, found = sys.modules.get(wanted), None
        for name in _prefixes(wanted):
            found = self._of_name(name)
        for one in step.names:
            self._of_name(f"{wanted}.{one.name}")
            if one.name == "*":
                yield from ((name, False) for name in (found.names if found is not None else ()))
            else:
                theirs = found is not None and one.name in found.names
                if found is not None and one.name in found.partly:
                    self.partly.add(one.asname or one.name)
                settled = module is not None and not theirs and not values.is_of_system(module, one.name)
                yield one.asname or one.name, settled

    # ------------------------------------------------------------ expressions

    def _is(self, node: ast.AST | None, called: bool = False) -> bool:
        """Whether an expression, or all of a function, is settled; what code does, where it is `called`."""
        if node is None:
            return True
        if not self._heard(node):
            return False
        if isinstance(node, ast.Assert) and not self._only_looks(node):
            return False
        if isinstance(node, ast.Constant):
            return str(node.value).strip().lower() not in values.NOW
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            known = node.id not in self.names and node.id not in _OF_STARTS
            known = known and (called or node.id not in self.partly)
            known = known and (self._placing or (node.id not in _OF_PLACES and node.id not in self._placed))
            chance = self._strict and (node.id in self._drawn or _by_chance(self._found(node)))
            return known and not chance and self._mentions(node, called)
        if isinstance(node, ast.Attribute):
            owner = self._found(node.value)
            if isinstance(owner, types.ModuleType):
                theirs = self.of(owner)
                known = theirs is None or node.attr not in theirs.names
                settled = known and not values.is_of_system(owner, node.attr)
                return settled and self._mentions(node, called)
            if not self._has_settled(node.attr) or (node.attr in _INSIDE and not called):
                return False
            if isinstance(node.value, ast.Name) and node.value.id in self.partly:
                return self._mentions(node, called)
            if (self._strict and node.attr in DRAWING) or not self._mentions(node, called):
                return False
            if called and not all(map(self._runs, self._methods.get(node.attr, ()))):
                return False
        if isinstance(node, ast.Lambda) and not called:
            return self._is(node.args) and self._leniently(node.body)
        if isinstance(node, FUNCTIONS) and node.name not in self._handed:  # what it does comes later
            return self._decorates(node) and self._is(node.args) and all(map(self._leniently, node.body))
        if isinstance(node, ast.Set | ast.SetComp) and self._strict and not _of_numbers(node):
            return False
        if isinstance(node, ast.Call):
            return self._is_called(node)
        if isinstance(node, ast.BinOp) and self._strict and self._makes_set(node):
            return False
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.In | ast.NotIn) for one in node.ops):
            return all(map(self._in_any_order, (node.left, *node.comparators)))
        return all(self._is(one, called) for one in ast.iter_child_nodes(node))

    def _makes_set(self, node: ast.BinOp) -> bool:
        """Whether it may be a set, as of what `keys` or `items` of dictionaries give."""
        sides = [self._is_set(one) for one in (node.left, node.right)]
        bits = isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)
        return (bits or isinstance(node.op, ast.Sub)) and (True in sides or (bits and False not in sides))

    def _is_set(self, node: ast.expr) -> bool | None:
        """Whether it is a set, or the like; None if that is not known."""
        found, what = self._found(root_of(node)), node.func if isinstance(node, ast.Call) else None
        if getattr(what, "attr", "") in ("keys", "items"):
            return True
        known = isinstance(node, ast.Constant | ast.Compare | ast.Dict | ast.List | ast.Tuple)
        if isinstance(node, ast.BinOp):
            return self._makes_set(node)
        if known or found is not None:
            return not known and isinstance(found, (*values.SETS, collections.abc.Set))
        return None

    def _has_settled(self, attribute: str) -> bool:
        """Whether an attribute is settled, whichever object of these files has it."""
        drawn = (attribute in one._drawn for one in self.others.values() if self._strict)
        return not any(attribute in one.attributes for one in self.others.values()) and not any(drawn)

    def _only_looks(self, node: ast.Assert) -> bool:
        """Whether an assertion, which `python -O` leaves out, calls nothing that may change anything."""
        called = (self._found(one.func) for one in ast.walk(node) if isinstance(one, ast.Call))
        return all(values.same(one, (*values.SCALARS, *values.LARGEST, *_LOOKS)) for one in called)

    def _is_called(self, node: ast.Call) -> bool:
        """Whether a call is settled; what it is given is called, too, unless it is known to be held alone."""
        what, given = self._found(node.func), [*node.args, *(one.value for one in node.keywords)]
        if self._strict and self._draws_of(node):
            return False
        if not self._placing and self._opens(node):
            return self._by_place(node)
        if self._strict and values.same(what, values.SETS) and node.args:
            return False
        if what is getattr and len(node.args) > 1:
            return self._is_read(*node.args)
        if what is np.datetime64 and not all(isinstance(one, ast.Constant) for one in given):
            return False  # a text may say "today"
        if (
            values.same(what, values.ANY_ORDER) and not node.keywords
        ):  # a key leaves equal ones in their order
            return all(map(self._in_any_order, node.args))
        holds = values.same(what, (*values.CALLS_NOTHING, *values.WRAPS, *_HOLD)) or self._keeps(what)
        return self._is(node.func, True) and all(self._is(one, not holds) for one in given)

    def _is_read(self, owner: ast.expr, name: ast.expr, *default: ast.expr) -> bool:
        """As `_is`, of an attribute by its name, which has to be known."""
        if not isinstance(name, ast.Constant):
            return False
        read = ast.Attribute(owner, str(name.value), ast.Load())
        return self._is(read) and all(map(self._is, default))

    def _keeps(self, what: Foreign) -> bool:
        """Whether a function of the file, or the making of an object, calls nothing that it is given."""
        node = self._code.get(what.__name__) if is_code(what) else None
        if node is None or not (self._is_class(what) or getattr(what, "__globals__", None) is self.scope):
            return False
        first = [one for one in node.body if getattr(one, "name", "") in INITIAL]
        every = [one for part in (first if isinstance(node, ast.ClassDef) else [node]) for one in walk(part)]
        given = {one.arg for one in every if isinstance(one, ast.arg)}
        parts = [part for one in every if isinstance(one, ast.Call) for part in (one.func, *one.args)]
        return not any(isinstance(root := root_of(part), ast.Name) and root.id in given for part in parts)

    def _mentions(self, node: ast.expr, called: bool) -> bool:
        """Whether code that is called by its name, or may be by that of what holds it, is settled."""
        found = self._found(node)
        if called and isinstance(found, HELD):
            return all(map(self._answers, [one for one in inside(found).values() if callable(one)]))
        return not called or self._answers(found)

    def _in_any_order(self, node: ast.AST) -> bool:
        """Whether an expression is settled but for the order of a set."""
        if isinstance(node, ast.Set | ast.SetComp):
            return all(map(self._is, ast.iter_child_nodes(node)))
        if isinstance(node, ast.Call) and values.same(self._found(node.func), values.SETS):
            return not node.keywords and all(map(self._in_any_order, node.args))
        if isinstance(node, ast.Name) and isinstance(self._found(node), values.SETS):
            return node.id not in self.names and (node.id not in self._drawn or self._leniently(node))
        if isinstance(node, ast.Attribute):
            return self._leniently(node)
        return self._is(node)

    def _answers(self, thing: Foreign) -> bool:
        """Whether code gives what follows from its arguments, or from files; leniently also from draws."""
        if not callable(thing) or (was_heard(self.file) and isinstance(thing, types.FunctionType)):
            return True
        code = thing if isinstance(thing, types.FunctionType | type) else type(thing)
        node = self._code.get(code.__name__)
        if node is not None and (getattr(code, "__globals__", None) is self.scope or self._is_class(code)):
            return node not in self.chosen and self._runs(node)
        home = self._home(code)
        if home not in (None, self) and code.__name__ in home._code:
            return home._asked(self._strict, home._answers, thing)
        if was_heard(self.file) and isinstance(thing, type) and home is not None:
            return True  # a class that no text defines: what making one calls is heard
        inside = [getattr(thing, name, None) for name in _WRAPPED]
        return self._of_a_library(thing) and all(map(self._answers, inside))

    def _runs(self, node: Foreign) -> bool:
        """Whether all is settled that a function does, or that making an object of a class does."""
        key = node, self._strict
        if key not in self._known:
            self._known[key] = True  # should it call itself
            of_class = isinstance(node, ast.ClassDef)
            body = body_of(node)
            first = [one for one in body if of_class and getattr(one, "name", "") in INITIAL]
            body = [one for one in body if not (of_class and isinstance(one, FUNCTIONS))]
            body += [part for one in first for part in one.body]
            given = {one for one, _ in self.defaults}  # by nobody, or by whoever knows better
            self._known[key] = given.isdisjoint((node, *first)) and all(map(self._is, body))
        return self._known[key]


def settle(files: Mapping[str, tuple[ast.Module, Mapping[str, Foreign]]]) -> dict[str, Settled]:
    """What is not settled of files, by their paths, and of those that they import; each with its scope."""
    known = dict[str, Settled]()
    for file, (tree, scope) in files.items():
        if file not in known:
            Settled(tree, scope, file, known)
    more = True
    while more:
        ends = [*known.values()]
        holds = [
            {n: _changeable(v) for n, v in one.scope.items() if not isinstance(v, FIXED)} for one in ends
        ]
        changed = {
            ref
            for one, held in zip(ends, holds, strict=True)
            for n in one.changed & held.keys()
            for ref in held[n]
        }
        for one, held in zip(ends, holds, strict=True):
            one.changed |= {name for name, inside in held.items() if not changed.isdisjoint(inside)}
            one.names |= one.changed
        more = any(one._again() for one in ends) or len(known) > len(ends)
    return known


def codes_of(names: set[str], scope: Mapping[str, Foreign]) -> set[types.CodeType]:
    """Code of functions and methods that these names stand for: what made them may have had a choice."""
    found = [scope.get(name) for name in names]
    found += [getattr(one, name, None) for one in found if callable(one) for name in _WRAPPED]
    return {one.__code__ for one in found if isinstance(one, types.FunctionType)}


def codes_in(names: set[str], scope: Mapping[str, Foreign]) -> set[types.CodeType]:
    """Code of functions that these names stand for, or hold."""
    held = [one for name in names & scope.keys() for one in inside(scope[name]).values()]
    return {one.__code__ for one in held if isinstance(one, types.FunctionType)}


def _prefixes(name: str) -> Iterator[str]:
    """A module, after the packages that it is in."""
    return itertools.accumulate(name.split("."), "{}.{}".format)


def _is_plain(step: ast.AST) -> bool:
    """Whether a statement sets names, and nothing else."""
    targets = step.targets if isinstance(step, ast.Assign) else [getattr(step, "target", None)]
    return isinstance(step, ast.Assign | ast.AnnAssign) and all(isinstance(one, ast.Name) for one in targets)


def _is_waiting(thing: Foreign) -> bool:
    """Whether it is a generator, code, or a set, or holds nothing else."""
    if isinstance(thing, dict):
        return bool(thing) and all(map(_is_waiting, thing.values()))
    if isinstance(thing, list | tuple):
        return bool(thing) and all(map(_is_waiting, thing))
    return isinstance(thing, _WAITING)


def _by_chance(thing: Foreign) -> bool:
    """Whether it is a set whose order is another one in another process."""
    return isinstance(thing, values.SETS) and not all(type(one) in (int, float, bool) for one in thing)


def _of_numbers(node: ast.Set | ast.SetComp) -> bool:
    held = node.elts if isinstance(node, ast.Set) else []
    numbers = all(isinstance(one, ast.Constant) and not isinstance(one.value, str | bytes) for one in held)
    return bool(held) and numbers


def _changeable(thing: Foreign) -> set[int]:
    """What is in an object and can be changed there, by address."""
    return {ref for ref, one in inside(thing).items() if not isinstance(one, (*FIXED, *MAKES, tuple))}
