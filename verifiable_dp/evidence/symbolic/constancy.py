"""Which conditions of a program are the same in every run: those that no draw and no reward can reach.

Of every name, attribute and function of a file two things are asked: may what it holds follow from a draw or
from rewards, and may its size. Both spread along assignments, calls and the branches around them, until no
more is found; attributes are told apart by name alone, and what is not understood counts as random.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from verifiable_dp.core.filled import Filled
from verifiable_dp.evidence.symbolic.cases import fits, names_made, parsed
from verifiable_dp.evidence.symbolic.terms import PREFIX

_PLAIN = (int, float, str, bool, type(None), tuple)
_NUMBERS = frozenset(
    ("min", "max", "abs", "int", "float", "bool", "round", "sum", "divmod", "str", "any", "all")
)
_SEQUENCES = frozenset(("list", "tuple", "sorted", "reversed", "enumerate", "zip", "iter", "dict"))
_KEEPS_SIZE = frozenset(
    (
        *(
            "sqrt",
            "bit_length",
            "log",
            "log2",
            "log1p",
            "exp",
            "expm1",
            "abs",
            "sum",
            "mean",
            "max",
            "min",
            "argmax",
            "argmin",
        ),
        *("cumsum", "maximum", "minimum", "clip", "sort", "argsort", "round", "floor", "ceil", "asarray"),
        *("array", "median", "var", "std", "dot", "power", "square", "sign", "zeros_like", "ones_like"),
        *("empty_like", "float64", "int64", "rint", "astype", "copy", "tolist", "item", "ravel", "flatten"),
        *("random", "shuffle", "permuted"),
    )
)
_GROWS = frozenset(("append", "extend", "insert", "pop", "clear", "sort", "reverse", "appendleft", "popleft"))
_MAY_GROW = frozenset(("add", "update", "setdefault", "remove", "discard", "popitem"))


class Mark(NamedTuple):
    """Whether what something holds may be random, and whether its size may be.

    And whether it follows from what is random in a way that may do for rare outcomes what it does for no
    others, as a remainder or a look-up does, and a sum or a root does not. And whether random numbers say how
    much of a list is left.
    """

    holds: bool = False
    size: bool = False
    jumps: bool = False
    cut: bool = False

    def __or__(self, other: Any) -> Mark:
        holds, size, jumps, cut = other
        return Mark(self.holds or holds, self.size or size, self.jumps or jumps, self.cut or cut)

    @property
    def jumping(self) -> Mark:
        """The same, of what jumps if it is random at all."""
        return self._replace(jumps=self.jumps or self.any)

    @property
    def any(self) -> bool:
        """Whether anything about it may be random."""
        return self.holds or self.size


_RANDOM = Mark(True, True)


def where(node: Any) -> Any:
    """Position of a node."""
    try:
        return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    except AttributeError:  # made, and not given a place
        return None, None, None, None


def place_of(position: Any) -> Any:
    """As `where`, of an instruction."""
    return position.lineno, position.col_offset, position.end_lineno, position.end_col_offset


_OBSCURE = frozenset(
    ("setattr", "delattr", "globals", "locals", "vars", "exec", "eval", "__dict__", "__setattr__")
)
# Decorators that leave what a function returns as it is.
_PLAINLY = frozenset(
    (
        "property",
        "cached_property",
        "staticmethod",
        "classmethod",
        "cache",
        "lru_cache",
        "njit",
        "jit",
        "wraps",
    )
)
_FOLLOWED = frozenset(("__init__", "__call__", "__repr__", "__str__"))
_FUNCTION = (ast.FunctionDef, ast.Lambda)
_IMPORTS = ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal
_CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_GENERATOR, _ARRAY = np.random.Generator, np.ndarray


def _called(node: ast.Call) -> str:
    """The name of what is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def is_choice(node: ast.Call) -> bool:
    """Whether it is `np.where(condition, one, other)`."""
    return _of_numpy(node) and _called(node) == "where" and len(node.args) == 3 and not node.keywords


def _counts(node: ast.Call) -> bool:
    """Whether a sum is of truth values, one by one: how often something holds."""
    given = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else node.args[:1]
    part = given[0] if isinstance(given, list) and given else given
    part = part.elt if isinstance(part, ast.GeneratorExp | ast.ListComp) else part
    return isinstance(part, ast.Compare)


def _plainly(decorator: Any) -> bool:
    """Whether a decorator leaves what a function returns as it is."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(made, "id", getattr(made, "attr", "")) in _PLAINLY


def _of_numpy(node: Any) -> bool:
    """Whether an expression makes an array."""
    made = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return isinstance(made, ast.Name) and made.id in ("np", "numpy")


def _number(node: Any) -> bool:
    """Whether an argument may be a number, so that it sets a size."""
    return not isinstance(node, ast.List | ast.ListComp | ast.Tuple)


def _own_nodes(function: Any) -> Iterator[tuple[Any, bool]]:
    """Nodes of a function but not of those in it, and whether each is in a loop."""
    waiting = [(child, False) for child in ast.iter_child_nodes(function)]
    while waiting:
        node, loop = waiting.pop()
        yield node, loop
        if not isinstance(node, _FUNCTION):
            inside = loop or isinstance(node, ast.For | ast.While | ast.comprehension)
            waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


def _fields(node: ast.ClassDef) -> list[str]:
    """Names that are assigned in the body of a class."""
    found = [target for part in node.body for target, _ in _stored(part)]
    return [target.id for target in found if isinstance(target, ast.Name)]


def _stored(node: Any) -> list[tuple[Any, Any]]:
    """Targets of an assignment with the values, None where these are parts of something."""
    if isinstance(node, ast.Assign):
        made = []
        for target in node.targets:
            parts: Any = getattr(target, "elts", [])
            several = isinstance(target, ast.Tuple | ast.List)
            given: Any = node.value.elts if isinstance(node.value, ast.Tuple) else []
            paired = several and len(given) == len(parts)
            values = given if paired else [None] * len(parts) if several else [node.value]
            made += list(zip(parts if several else [target], values, strict=True))
        return made
    if isinstance(node, ast.AnnAssign | ast.NamedExpr):
        return [(node.target, node.value)]
    if isinstance(node, ast.AugAssign):
        return [(node.target, None)]
    if isinstance(node, ast.For | ast.comprehension):
        target = node.target
        return [(part, None) for part in ast.walk(target) if isinstance(part, ast.Name | ast.Attribute)]
    if isinstance(node, ast.arg):
        return [(ast.Name(node.arg, ast.Store()), node)]
    return []


_SMOOTH = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift, ast.MatMult),
    *(ast.UAdd, ast.USub),
)
# And what does for rare outcomes what it does for others.
_SMOOTH_NAMES = (_KEEPS_SIZE | _GROWS | _SEQUENCES) - {"abs", "sign", "var", "std", "median"} | {
    *("log10", "pow", "prod", "add", "subtract", "multiply", "divide", "true_divide", "outer"),
    *("zeros", "ones", "full", "full_like", "arange", "linspace", "empty", "fill", "repeat", "tile"),
    *("reshape", "broadcast_to", "stack", "concatenate", "bincount", "count", "flatnonzero", "nonzero"),
    *("int", "float", "len", "range", "isinstance", "values", "items", "keys", "index"),
    *("where", "default_rng", "Random", "RandomState", "Generator", "PCG64", "Philox", "SeedSequence"),
}
_KEEPS_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def _sets(step: Any, name: str) -> int:
    """In how many places a part of the code gives a name another value."""
    stored = 0
    for node in ast.walk(step):
        names = [*getattr(node, "names", ()), getattr(node, "name", None), getattr(node, "arg", None)]
        names += [part.asname or part.name for part in names if isinstance(part, ast.alias)]
        own = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id == name
        stored += own or name in names or isinstance(node, ast.Match)
    return stored


def _values(function: Any, name: str) -> list[Any]:
    """What a name is set to or counted up by in a function; empty if anything else is done to it."""
    found = []
    for step in ast.walk(function):
        if isinstance(step, ast.Assign) and [getattr(t, "id", "") for t in step.targets] == [name]:
            found.append(step.value)
        counts = isinstance(step, ast.AugAssign) and isinstance(step.op, _KEEPS_WHOLE)
        if counts and getattr(step.target, "id", "") == name:  # type: ignore[attr-defined]
            found.append(step.value)  # type: ignore[attr-defined]
    return found if len(found) == _sets(function, name) else []


def _set_to(node: Any, before: list[Any]) -> Any:
    """The whole number that an expression of a constant has after some statements; None if none is seen."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift | ast.Pow):
        one, other = _set_to(node.left, before), _set_to(node.right, before)
        if one is None or other is None or not 0 <= other < 64:
            return None
        return one << other if isinstance(node.op, ast.LShift) else one**other
    given = _given(before, node.id) if isinstance(node, ast.Name) else None
    return None if given is None else _set_to(given, [])


def _given(before: list[Any], name: str) -> ast.Constant | None:
    """The constant that a name has after some statements; None if none is seen."""
    last = [step for step in before if _sets(step, name)][-1:]
    for step in last:
        values = {getattr(target, "id", ""): value for target, value in _stored(step)}
        if isinstance(step, ast.Assign) and isinstance(values.get(name), ast.Constant):
            return values[name]  # type: ignore[no-any-return]
    return None


def _of_itertools(tree: ast.Module, nodes: list[Any]) -> set[tuple[str, str]]:
    """What a file has imported from `itertools`, as (module or "", name), and gives no other meaning."""
    found = {("", n.name) for n in _imports(tree, "itertools") if n.asname is None}
    whole = any(n.name == "itertools" and n.asname is None for n in _imports(tree))
    found |= {("itertools", name) for name in ("count", "cycle", "repeat")} if whole else set()
    once = Counter(n.asname or n.name for n in nodes if isinstance(n, ast.alias)) if found else Counter[str]()
    made = names_made(nodes) if found else set()
    return {(m, name) for m, name in found if (m or name) not in made and once[m or name] == 1}


def _imports(tree: ast.Module, module: str | None = None) -> Iterator[ast.alias]:
    """What a file imports at its top from a module, or which modules."""
    for step in tree.body:
        whole = isinstance(step, ast.Import) and module is None
        if whole or (isinstance(step, ast.ImportFrom) and step.module == module):
            yield from step.names  # type: ignore[attr-defined]


def _by_name(node: Any) -> bool:
    """Whether it is a call of something that has a name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


_USES_UP = frozenset(("sum", "max", "min", "any", "all", "list", "tuple", "sorted", "dict", "set"))


def _starred(node: ast.Tuple) -> bool:
    return any(isinstance(entry, ast.Starred) for entry in node.elts)


_FITS = PREFIX + fits.__name__
_DEEP = 12  # steps from a condition to where its constants stand


def _chain_of(node: ast.If) -> Iterator[Any]:
    """The first conditions of a chain of branches; those beside them are looked at on their own."""
    rest: list[Any] = [node]
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        test, rest = rest[0].test, rest[0].orelse
        several = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
        yield test.values[0] if several else test  # type: ignore[attr-defined]


def _asked_for(test: Any) -> tuple[Any, set[Any]]:
    """What is compared with constants, and those; None where a condition is anything else."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_asked_for(part) for part in test.values]
        alike = {ast.dump(subject) if subject is not None else "" for subject, _ in parts}
        return (
            (parts[0][0], set().union(*(asked for _, asked in parts))) if len(alike) == 1 else (None, set())
        )
    if (
        not isinstance(test, ast.Compare)
        or len(test.ops) != 1
        or not isinstance(test.ops[0], ast.Eq | ast.Is)
    ):
        return None, set()
    other = test.comparators[0]
    if isinstance(other, ast.Constant):
        usual = isinstance(test.ops[0], ast.Eq) or other.value is None
        return (test.left, {other.value}) if usual else (None, set())
    return (test.left, {ast.unparse(other)}) if isinstance(other, ast.Attribute) else (None, set())


class Constancy:
    """What may be random in a file.

    Parameters
    ----------
    tree
        Of the file.
    plain
        Names of globals that hold numbers and the like: constant unless a function sets them.
    steady
        Names that hold the same whatever happens: modules, and what is built in.
    filled
        Kinds of what adapters have filled parameters with (`core.filled`), by name and first line of the
        function, and name of the parameter.
    called
        Whether functions that are handed on may be called at any time, so that nothing in them is constant.
    numeric
        Names of modules whose functions give the same for the same: NumPy, ``math`` and ``scipy.special``.
    """

    def __init__(
        self,
        tree: ast.Module,
        plain: frozenset[str],
        steady: frozenset[str],
        filled: frozenset[tuple[str, int, str, str]] = frozenset(),
        called: bool = True,
        numeric: frozenset[str] = frozenset(),
    ) -> None:
        self._numeric = numeric
        self._tree, self._plain, self._steady, self._anytime = tree, plain, steady, called
        self._filled = filled
        self._kinds_of = {(name, line, one): kind for name, line, one, kind in filled}
        self._marks: dict[Any, Mark] = {}
        self._changed = self._settled = False
        self._outer: dict[Any, Any] = {}  # of a function, the one around it
        self._names: dict[Any, set[str]] = {}  # that are local to a function
        self._methods: set[Any] = set()
        self._functions: dict[str, list[Any]] = {}
        self._classes: dict[str, Any] = {}
        self._before: dict[Any, set[int]] = {}  # see `_early`
        self._again: dict[tuple[Any, str], bool] = {}  # see `_sets_again`
        nodes = [*ast.walk(tree)]
        self._of_itertools = _of_itertools(tree, nodes)
        self._random_exits: set[Any] = set()  # functions and loops that may be left early, at random
        self._conditions: dict[Any, tuple[Mark, bool]] = {}
        self._operands: dict[Any, list[Mark]] = {}  # of operations and calls
        self._objects: dict[
            Any, bool
        ] = {}  # names and attributes that hold objects of the file's classes only
        self._attributes: set[str] = set()  # that are set in the file
        self._arrays: dict[Any, bool] = {}
        self._containers: dict[Any, bool] = {}  # those that hold lists, dictionaries and sets only
        self._stores: dict[Any, int] = {}
        self._control = False  # whether what is looked at may happen or not
        self._shared = {name for n in nodes if isinstance(n, ast.Global) for name in n.names}
        self._elsewhere: dict[Any, set[str]] = {}  # names of a function that are those of one around it
        self._collect(tree, None)
        for function, names in self._elsewhere.items():
            self._names[function] -= names
        self._all = [f for f in self._outer if isinstance(f, _FUNCTION)]
        # What is done behind the names of a file is not followed.
        used = {getattr(n, "id", getattr(n, "attr", "")) for n in nodes}
        special = {name for name in self._functions if name.startswith("__")}
        self._obscure = bool(used & _OBSCURE or special - _FOLLOWED)
        self._kinds()
        self._entries(nodes)
        for self._settled in (False, True):  # what jumps is asked of what is known to be constant
            while True:
                self._changed = False
                for function in self._all:
                    self._function(function)
                if not self._changed:
                    break

    def constant(self, position: Any) -> bool:
        """Whether the condition at a position, or the length of what is looped over, is always the same."""
        if self._obscure:
            return False
        found = self._conditions.get(place_of(position))
        return found is not None and not found[0].any and not found[1]

    def jumps(self, position: Any, side: int | None) -> bool:
        """Whether an operand of what stands at a position jumps (see `Mark`), or any of them."""
        found = self._operands.get(place_of(position), [])
        one = side is not None and side < len(found)
        return found[side or 0].jumps if one else any(mark.jumps for mark in found)

    def cuts(self, position: Any, side: int) -> bool:
        """Whether how much there is of an operand may be random."""
        found = self._operands.get(place_of(position), [])
        return len(found) > side and found[side].cut

    def enters(self, code: types.CodeType, names: frozenset[str] | None) -> bool:
        """Whether one of these names in a function jumps; by default attributes and names of others."""
        for function in self._all:
            first = min(n.lineno for n in (function, *getattr(function, "decorator_list", ())))
            if first != code.co_firstlineno or getattr(function, "name", "<lambda>") != code.co_name:
                continue
            used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
            attributes = [n for n in ast.walk(function) if isinstance(n, ast.Attribute) and names is None]
            chosen = used - self._names[function] if names is None else used & names
            marks = [self._name(function, name) for name in chosen]
            if any(mark.jumps for mark in (*marks, *(self._of(function, n) for n in attributes))):
                return True
        return False

    def constant_at_entry(self, position: Any) -> bool:
        """Whether the condition of a loop is the same in every run when it is asked for the first time.

        Only where the loop is a statement of the function's own body: what comes after it plays no part then;
        or where it asks whether 1 divides a whole number, or for constants that its names were just given.
        """
        if not self._obscure and self._known_at_entry(place_of(position)):
            return True
        for function in self._all:
            body = function.body if isinstance(function, ast.FunctionDef) else []
            for i, node in enumerate(body):
                if isinstance(node, ast.While) and where(node.test) == place_of(position):
                    function.body = [*body[:i], ast.If(node.test, [ast.Pass()], [])]
                    try:
                        again = Constancy(
                            self._tree, self._plain, self._steady, self._filled, numeric=self._numeric
                        )
                        return again.constant(position)
                    finally:
                        function.body = body
        return False

    def _known_at_entry(self, place: Any) -> bool:
        """Whether what stands before a loop tells what its condition is when it is asked first."""
        for function in self._all:
            inside = [node for node, _ in _own_nodes(function) if not isinstance(node, _FUNCTION)]
            for node in (function, *inside):
                for name in ("body", "orelse"):
                    body: Any = getattr(node, name, None)
                    for i, loop in enumerate(body if isinstance(body, list) else ()):
                        # Which of the two an instruction names depends on whether it compares.
                        if isinstance(loop, ast.While) and place in (where(loop), where(loop.test)):
                            return self._follows(function, loop.test, body[:i])
        return False

    def _follows(self, function: Any, test: Any, before: list[Any]) -> bool:
        """Whether a condition follows from what the statements before it have set its names to."""
        shared = [n for n in ast.walk(self._tree) if isinstance(n, ast.Global | ast.Nonlocal)]
        names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
        if any(names & {*n.names} for n in shared):
            return False
        plain = (ast.Name, ast.Constant, ast.UnaryOp, ast.BoolOp, ast.Compare)
        parts = (*plain, ast.boolop, ast.unaryop, ast.cmpop, ast.Load)
        given = all(_given(before, name) is not None for name in names)
        return (given and all(isinstance(n, parts) for n in ast.walk(test))) or self._divides(
            function, test, before
        )

    def _divides(self, function: Any, test: Any, before: list[Any]) -> bool:
        """Whether a condition is `whole % 1 == 0`, with what the statements before it have set."""
        if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.BinOp):
            return False
        by, zero = test.left, test.comparators[0]
        equal = len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) and isinstance(by.op, ast.Mod)
        if not (equal and isinstance(zero, ast.Constant) and zero.value == 0):
            return False
        return _set_to(by.right, before) == 1 and self._whole(function, by.left, frozenset())

    def _whole(self, function: Any, node: Any, seen: frozenset[str]) -> bool:
        """Whether an expression is a whole number of Python's whatever happens: a length, or counted up."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "len" and not _sets(self._tree, "len")
        if isinstance(node, ast.BinOp):
            sides = (self._whole(function, side, seen) for side in (node.left, node.right))
            return isinstance(node.op, _KEEPS_WHOLE) and all(sides)
        if not isinstance(node, ast.Name) or node.id in seen:
            return isinstance(node, ast.Name)
        values = _values(function, node.id)
        return bool(values) and all(self._whole(function, v, seen | {node.id}) for v in values)

    def last_resort(self, position: Any) -> bool:
        """Whether after a loop nothing comes but the return of a constant, or of a length, less one perhaps.

        A search along chances ends there if they do not quite add up to 1.
        """
        parts = (
            ast.Constant,
            ast.BinOp,
            ast.UnaryOp,
            ast.operator,
            ast.unaryop,
            ast.Call,
            ast.Name,
            ast.Load,
        )
        for around in self._all:
            body = around.body if isinstance(around, ast.FunctionDef) else []
            for loop, after in itertools.pairwise(body):
                # Which of the two an instruction names differs between versions of Python.
                if not isinstance(loop, ast.For) or place_of(position) not in (where(loop), where(loop.iter)):
                    continue
                told = [*ast.walk(after.value)] if isinstance(after, ast.Return) and after.value else []
                names = {n.args[0] for n in told if isinstance(n, ast.Call) and _called(n) == "len"}
                names |= {n.func for n in told if isinstance(n, ast.Call) and _called(n) == "len"}
                plain = (isinstance(n, parts) and (n in names or not isinstance(n, ast.Name)) for n in told)
                same = (
                    not self._obscure
                    and isinstance(after, ast.Return)
                    and not self._of(around, after.value).any
                )
                return bool(told) and (same or all(plain))
        return False

    def last_of_all(self, position: Any) -> bool:
        """Whether a condition asks for the one constant that is left, as the last case of a state does.

        What is compared must hold constants that stand in the file, all of which are seen to be asked for.
        """
        place = place_of(position)
        for function in self._all:
            for node, _ in _own_nodes(function):
                if isinstance(node, ast.If) and not self._obscure:
                    test: Any = node.test
                    asks = isinstance(test, ast.Call) and _called(test) == _FITS
                    if asks and place in (where(node), where(test)):
                        return self._is_sequence(function, test.args[0], test.args[1].value)
                    left: set[Any] | None = None
                    for test in _chain_of(node):
                        subject, asked = _asked_for(test)
                        if subject is None:
                            break
                        if left is None:
                            left, first = self._constants(function, subject), ast.dump(subject)
                        if left is None or ast.dump(subject) != first:
                            break
                        if where(test) == place and left <= asked:
                            return True
                        left -= asked
        return False

    def _constants(self, function: Any, node: Any) -> set[Any] | None:
        """The constants that an expression may be; None if that is not seen."""
        found: set[Any] = set()
        leaf: Any
        for leaf in self._leaves(function, node, 0) or [None]:
            plain = isinstance(leaf, ast.Constant) and isinstance(leaf.value, str | int | None)
            if not plain and not isinstance(leaf, ast.Attribute):
                return None
            found.add(leaf.value if plain else ast.unparse(leaf))
        return found

    def _is_sequence(self, function: Any, node: Any, length: int | None) -> bool:
        """Whether an expression is a tuple whatever happens, of a length or of any."""
        leaves = self._leaves(function, node, 0) or [None]
        tuples = [leaf for leaf in leaves if isinstance(leaf, ast.Tuple) and not _starred(leaf)]
        return len(tuples) == len(leaves) and all(length in (None, len(leaf.elts)) for leaf in tuples)

    def _leaves(self, function: Any, node: Any, depth: int) -> list[Any] | None:
        """What an expression may be, as constants, tuples and members of enumerations; None if not seen."""
        if depth > _DEEP or node is None:
            return None
        if isinstance(node, ast.Constant | ast.Tuple):
            return [node]
        each: list[Any] = []
        if isinstance(node, ast.Subscript):
            at = getattr(node.slice, "value", None)
            for whole in self._leaves(function, node.value, depth + 1) or [None]:
                if type(at) is not int or not isinstance(whole, ast.Tuple) or _starred(whole):
                    return None
                if not 0 <= at < len(whole.elts) or not isinstance(whole.elts[at], ast.Constant):
                    return None
                each.append((function, whole.elts[at]))
        elif isinstance(node, ast.IfExp):
            each = [(function, node.body), (function, node.orelse)]
        elif isinstance(node, ast.Name):
            each = self._stored_in(self._owner(function, node.id), node.id)
        elif isinstance(node, ast.Attribute):
            if self._is_enumerated(node):
                return [node]
            each = self._stored_as(node.attr)
        elif isinstance(node, ast.Call) and self._sends(node):
            each = self._given_back([f for f in self._all if self._yields(f)])
        found: list[Any] = []
        for inside, value in each or [(function, None)]:
            leaves = self._leaves(inside, value, depth + 1)
            if leaves is None:
                return None
            found += leaves
        return found

    def _yields(self, function: Any) -> bool:
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node, _ in _own_nodes(function))

    def _sends(self, node: ast.Call) -> bool:
        """Whether a call can only be of a generator of the file, which is sent something."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "send" or "send" in self._functions:
            return False
        nodes: list[Any] = [*ast.walk(self._tree)]
        modules = [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
        modules += [n.module or "." if not n.level else "." for n in nodes if isinstance(n, ast.ImportFrom)]
        own = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
        used = {id(a) for n in nodes if _by_name(n) and n.func.id in _USES_UP for a in n.args}
        kept = any(isinstance(n, ast.GeneratorExp) and id(n) not in used for n in nodes)
        return not own - {"numpy", "scipy", "pandas"} and not kept

    def _given_back(self, functions: list[Any]) -> list[Any]:
        """What generators yield, all of it; empty if that is not seen of one of them."""
        found: list[Any] = []
        for function in functions:
            nodes: list[Any] = [node for node, _ in _own_nodes(function)]
            hidden = any(isinstance(node, ast.YieldFrom) for node in nodes)
            if hidden or not self._yields(function) or getattr(function, "decorator_list", [0]):
                return []
            found += [(function, node.value) for node in nodes if isinstance(node, ast.Yield)]
        return found

    def _stored_in(self, owner: Any, name: str) -> list[Any]:
        """Where a name gets its values, with those; None in place of one that is not seen."""
        if owner is None or any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(owner.args)):
            return []
        found: list[Any] = []
        stores = 0
        for function in (f for f in self._all if self._owner(f, name) is owner):
            for node, _ in _own_nodes(function):
                stores += (
                    isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
                )
                pairs = [(function, v) for t, v in _stored(node) if getattr(t, "id", "") == name]
                if isinstance(node, ast.For) and getattr(node.target, "id", "") == name:
                    made = node.iter.func.id if _by_name(node.iter) else ""  # type: ignore[attr-defined]
                    called = self._functions.get(made, []) if _sets(self._tree, made) == 1 else []
                    pairs = self._given_back(called)
                    stores += len(pairs) - 1
                found += pairs
        return found if len(found) == stores else []

    def _stored_as(self, name: str) -> list[Any]:
        """As `_stored_in`, of an attribute that no class of the file has as a field."""
        if any(name in _fields(node) for node in self._classes.values()) or name not in self._attributes:
            return []
        nodes = [(f, n) for f in self._all for n, _ in _own_nodes(f)]
        return [
            (f, v) for f, n in nodes for t, v in _stored(n) if isinstance(t, ast.Attribute) and t.attr == name
        ]

    def _is_enumerated(self, node: ast.Attribute) -> bool:
        """Whether it is a member of an enumeration of the file."""
        kind = self._classes.get(getattr(node.value, "id", ""))
        bases = {getattr(b, "id", getattr(b, "attr", "")) for b in kind.bases} if kind is not None else set()
        return (
            bool(bases & {"Enum", "IntEnum", "StrEnum", "Flag"})
            and kind is not None
            and node.attr in _fields(kind)
        )

    # ------------------------------------------------------------ what is there

    def _collect(self, node: Any, function: Any) -> None:
        for child in ast.iter_child_nodes(node):
            inside = function
            if isinstance(child, ast.ClassDef):
                self._classes[child.name] = child
            if isinstance(child, _FUNCTION):
                self._outer[child], inside = function, child
                bare = getattr(child, "decorator_list", [None])
                free = any(getattr(d, "id", "") == "staticmethod" for d in bare)
                if isinstance(node, ast.ClassDef) and not free:
                    self._methods.add(child)
                arguments = [a.arg for a in ast.walk(child.args) if isinstance(a, ast.arg)]
                self._names[child] = set(arguments)
                if isinstance(child, ast.FunctionDef):
                    self._functions.setdefault(child.name, []).append(child)
                    if function is not None:
                        self._names[function].add(child.name)
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and function is not None:
                self._names[function].add(child.id)
            self._collect(child, inside)
        if isinstance(node, ast.Nonlocal | ast.Global):
            self._elsewhere.setdefault(function, set()).update(node.names)

    def _entries(self, nodes: list[Any]) -> None:
        """Parameters of functions that are called from elsewhere, or are passed on."""
        calls = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        called = {_called(n) for n in nodes if isinstance(n, ast.Call)}
        passed = (
            {
                n.id if isinstance(n, ast.Name) else n.attr
                for n in nodes
                if isinstance(n, ast.Name | ast.Attribute)
                and isinstance(n.ctx, ast.Load)
                and id(n) not in calls
            }
            if self._anytime
            else set()
        )
        for function in self._all:
            name = getattr(function, "name", "")
            dunder = name.startswith("__") and name.endswith("__")
            if name and name in called and name not in passed and not dunder:
                continue
            if dunder and name in ("__init__", "__call__"):
                continue  # reached by the name of the class, and by any call of what is not known
            for argument in ast.walk(function.args):
                kind = (
                    self._filled_with(function, argument.arg) if isinstance(argument, ast.arg) else "public"
                )
                if kind == "public" and name not in passed:
                    continue
                if isinstance(argument, ast.arg) and not self._is_object(function, argument.arg):
                    self._add((function, argument.arg), Mark(True, kind not in ("data", "generator")))
            if name in passed or not name:
                self._add((function, "control"), Mark(True))

    def _is_numeric(self, function: Any, name: str) -> bool:
        """Whether a name can only be one of those modules."""
        return name in self._numeric and self._owner(function, name) is None

    def _filled_with(self, function: Any, name: str) -> str:
        """The kind of what an adapter has filled a parameter with; empty if none has."""
        line = min(n.lineno for n in (function, *getattr(function, "decorator_list", ())))
        return self._kinds_of.get((getattr(function, "name", "<lambda>"), line, name), "")

    def _is_object(self, function: Any, name: str) -> bool:
        """Whether a parameter is the object whose method a function is."""
        placed = [*function.args.posonlyargs, *function.args.args]
        return function in self._methods and placed[:1] != [] and placed[0].arg == name

    # ------------------------------------------------------------ marks

    def _add(self, key: Any, mark: Mark) -> None:
        known = self._marks.get(key, Mark())
        if known | mark != known:
            self._marks[key] = known | mark
            self._changed = True

    def _owner(self, function: Any, name: str) -> Any:
        while function is not None and name not in self._names[function]:
            function = self._outer[function]
        return function

    def _name(self, function: Any, name: str) -> Mark:
        owner = self._owner(function, name)
        if owner is not None:
            return self._marks.get((owner, name), Mark())
        if name in self._functions or name in self._classes:
            return Mark()
        known = name in self._steady or (name in self._plain and name not in self._shared)
        return Mark() if known else _RANDOM

    def _assign(self, function: Any, target: Any, mark: Mark, control: bool) -> None:
        mark = mark | _RANDOM if control else mark
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._assign(
                    function, part, mark._replace(holds=mark.any, size=mark.any and mark.size), control
                )
        elif isinstance(target, ast.Starred):
            self._assign(function, target.value, mark, control)
        elif isinstance(target, ast.Name):
            self._add((self._owner(function, target.id), target.id), mark)
        elif isinstance(target, ast.Attribute):
            self._add("." + target.attr, mark | self._taken(function, target.value))
        elif isinstance(target, ast.Subscript):
            # A new key of a dictionary changes its size, an entry of an array does not.
            key = self._of(function, target.slice)
            grows = control or (key.holds and not self._kind(self._arrays, function, target.value))
            self._into(function, target.value, Mark(mark.any or key.any, grows, mark.jumps or key.jumps))

    def _into(self, function: Any, target: Any, mark: Mark) -> None:
        """What a container holds is changed."""
        while isinstance(target, ast.Subscript):
            mark |= Mark(*[self._of(function, target.slice).any] * 2)
            target = target.value
        if isinstance(target, ast.Name):
            self._add((self._owner(function, target.id), target.id), mark)
        elif isinstance(target, ast.Attribute):
            self._add("." + target.attr, mark | self._taken(function, target.value))

    def _taken(self, function: Any, target: Any) -> Mark:
        """How random it is whose attribute is set or read."""
        if isinstance(target, ast.Name):
            owner = self._owner(function, target.id)
            if (
                owner is not None
                and self._is_object(owner, target.id)
                and not self._sets_again(owner, target.id)
            ):
                return Mark()
        return Mark(*[self._of(function, target).holds] * 2)

    def _sets_again(self, function: Any, name: str) -> bool:
        """Whether a function gives a parameter of its own another value."""
        if (function, name) not in self._again:
            self._again[function, name] = _sets(function, name) > 1
        return self._again[function, name]

    # ------------------------------------------------------------ expressions

    def _of(self, function: Any, node: Any) -> Mark:
        """The mark of an expression."""
        if node is None or isinstance(node, ast.Constant):
            return Mark()
        if isinstance(node, ast.FormattedValue):
            return Mark(self._of(function, node.value).any).jumping
        if isinstance(node, ast.Name):
            return self._name(function, node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(function, node)
        if isinstance(node, ast.Subscript):
            base, key = self._of(function, node.value), self._of(function, node.slice)
            masked = key.any and not isinstance(node.slice, ast.Constant)
            # A table that is always the same may have one entry that is like no other.
            constant = self._settled and not base.any
            jumps = key.any and constant and not isinstance(node.slice, ast.Slice)
            cut = base.cut or (key.any and isinstance(node.slice, ast.Slice))
            return Mark(base.holds or key.any, base.size or masked, jumps or base.jumps or key.jumps, cut)
        if isinstance(node, ast.Call):
            return self._call(function, node)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(function, node)
        if isinstance(node, ast.Lambda):
            self._add((node, "return"), self._of(node, node.body))
            return Mark()
        if isinstance(node, ast.NamedExpr):
            mark = self._of(function, node.value)
            self._assign(function, node.target, mark, self._control)
            return mark
        if isinstance(node, ast.IfExp):
            test = self._test(function, node.test)
            self._asks(node)
            sides = [self._of(function, node.body), self._of(function, node.orelse)]
            self._operands[where(node)] = sides
            parts = sides[0] | sides[1]
            return parts | _RANDOM if test else parts
        if isinstance(node, ast.BoolOp):
            tests = [self._test(function, value) for value in node.values]  # each is a branch
            asked = [self._conditions[where(value)] for value in node.values[:-1]]
            self._conditions[where(node)] = (Mark(any(m.any for m, _ in asked)), any(v for _, v in asked))
            marks = [self._of(function, value) for value in node.values]
            found = functools.reduce(Mark.__or__, marks)
            return Mark(any(tests) or found.holds, any(tests) or found.size, found.jumps)
        kinds = (
            ast.BinOp,
            ast.UnaryOp,
            ast.Compare,
            ast.Tuple,
            ast.List,
            ast.Set,
            ast.Dict,
            ast.Starred,
            ast.Slice,
            ast.JoinedStr,
        )
        if not isinstance(node, kinds):
            return _RANDOM
        marks = [
            self._of(function, part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
        ]
        found = functools.reduce(Mark.__or__, marks, Mark())
        if isinstance(node, ast.BinOp | ast.Compare):
            self._operands[where(node)] = marks
        smooth = isinstance(getattr(node, "op", ast.Add()), _SMOOTH)
        found = found if smooth and not isinstance(node, ast.Compare | ast.JoinedStr) else found.jumping
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side, times in ((node.left, node.right), (node.right, node.left)):
                if isinstance(side, ast.List):  # [0] * n
                    found |= Mark(size=self._of(function, times).any)
        return Mark(found.any, jumps=found.jumps) if isinstance(node, ast.Compare) else found

    def _attribute(self, function: Any, node: ast.Attribute) -> Mark:
        base = self._of(function, node.value)
        if node.attr in ("shape", "ndim", "size"):
            return Mark(base.size)
        if node.attr in ("T", "dtype"):
            return base
        if isinstance(node.value, ast.Name) and self._is_numeric(function, node.value.id):
            return Mark()
        if node.attr not in self._attributes:
            return _RANDOM  # of something else than the file's own objects, or computed when it is asked for
        return self._marks.get("." + node.attr, Mark()) | self._taken(function, node.value)

    def _comprehension(self, function: Any, node: Any) -> Mark:
        size = False
        for part in node.generators:
            mark = self._of(function, part.iter)
            self._assign(function, part.target, mark._replace(holds=mark.any, size=False), False)
            tests = [self._test(function, test) for test in part.ifs]
            size = size or mark.size or any(tests)
        self._conditions[where(node.generators[0].iter)] = (Mark(size), False)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        marks = [self._of(function, part) for part in parts]
        keyed = isinstance(node, ast.DictComp | ast.SetComp) and marks[0].any
        found = functools.reduce(Mark.__or__, marks)
        jumps = found.jumps or isinstance(node, ast.SetComp)
        return Mark(size or found.any, size or keyed, jumps, found.cut)

    def _call(self, function: Any, node: ast.Call) -> Mark:
        """The mark of a call."""
        found, given = self._call_of(function, node), self._operands[where(node)]
        name, base = _called(node), getattr(node.func, "value", None)
        if name in self._functions or name in self._classes:
            return found
        every = functools.reduce(Mark.__or__, given, Mark())
        if base is not None and not hasattr(_GENERATOR, name):  # a draw is fresh, whoever makes it
            every |= self._of(function, base)
        counted = name in ("sum", "mean") and _counts(node)
        smooth = name in _SMOOTH_NAMES or hasattr(_GENERATOR, name) or name == "rvs"
        if name == "get" and base is not None:
            smooth = not self._settled or len(node.args) < 2 or self._of(function, base).any
        if isinstance(node.func, ast.Name) and self._owner(function, name) is not None:
            smooth = True  # a function that was handed over: what it does stands elsewhere
        jumps = every.jumps and not counted if smooth else every.any
        return found._replace(jumps=jumps, cut=found.cut or every.cut)

    def _call_of(self, function: Any, node: ast.Call) -> Mark:
        if is_choice(node):
            self._test(function, node.args[0])
        given = [self._of(function, a) for a in (*node.args, *(k.value for k in node.keywords))]
        if hasattr(_GENERATOR, _called(node)) or _called(node) == "rvs":
            # How many numbers are drawn at once is no matter of their size.
            nodes = [*node.args, *(k.value if k.arg != "size" else None for k in node.keywords)]
            sized = [n is None or (isinstance(n, ast.Call) and _called(n) == "len") for n in nodes]
            given = [mark._replace(jumps=mark.jumps and not s) for mark, s in zip(given, sized, strict=True)]
        self._operands[where(node)] = given
        any_given = functools.reduce(Mark.__or__, given, Mark())
        name = _called(node)
        if isinstance(node.func, ast.Name):
            owner = self._owner(function, name)
            if owner is None or name in self._functions:
                if name in self._functions:
                    return self._enter(function, node, given, self._functions[name])
                if name in self._classes:
                    made = self._classes[name]
                    every = self._functions.get("__init__", [])
                    inits = [f for f in every if f in made.body]
                    # Without one of its own a class has that of another, or fields.
                    self._enter(function, node, given, inits or (every if made.bases else []), method=True)
                    for one in () if inits else self._classes.values() if made.bases else [made]:
                        for field in _fields(one):
                            self._add("." + field, any_given)
                    return Mark(size=False)
                if name == "len":
                    return Mark(any_given.size, jumps=any_given.jumps)
                if name in _NUMBERS:
                    return Mark(any_given.any)
                if name in _SEQUENCES:
                    return any_given
                if name in ("range", "isinstance", "set", "frozenset"):  # equal ones are one
                    return Mark(any_given.any, any_given.any)
            self._enter(function, node, given, self._functions.get("__call__", []), method=True)
            return _RANDOM
        if not isinstance(node.func, ast.Attribute):
            return _RANDOM
        base = node.func.value
        if isinstance(base, ast.Name) and self._is_numeric(function, base.id):
            keeps = name in _KEEPS_SIZE or base.id == "math"
            return Mark(any_given.any, any_given.size if keeps else any_given.any)
        own = self._of(function, base)
        if name in ("random", "shuffle", "permuted", "permutation") or hasattr(_GENERATOR, name):
            sizes = any_given.size or any(
                m.holds for m, a in zip(given, node.args, strict=False) if _number(a)
            )
            return Mark(True, sizes or own.size or (name == "choice" and any_given.any))
        found = Mark()
        if name in self._functions:
            found |= self._enter(function, node, given, self._functions[name], method=True, own=own)
        if name in _GROWS | _MAY_GROW and not self._kind(self._objects, function, base):
            one = name in ("pop", "remove") and len(node.args) <= 1  # gone, whichever it is, or an exception
            by_one = name in ("append", "appendleft", "insert")  # whatever it is
            random_size = (any_given.size and not by_one) or (name in _MAY_GROW and any_given.any)
            grows = self._control or (random_size and not one)
            self._into(function, base, Mark(any_given.any or self._control, grows))
        if name in self._functions:
            return found | Mark(own.holds and not self._kind(self._objects, function, base))
        keeps = name in _KEEPS_SIZE or name in ("get", "items", "keys", "values", "index", "pop")
        known = (
            keeps
            or name in _GROWS | _MAY_GROW
            or hasattr(_ARRAY, name)
            or hasattr(str, name)
            or hasattr(dict, name)
        )
        if not known:
            return _RANDOM
        return Mark(own.holds or any_given.any, own.size or any_given.size or (not keeps and any_given.any))

    def _kind(self, kinds: Mapping[Any, bool], function: Any, base: Any) -> bool:
        """Whether an expression is of a kind, or a part of what is."""
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            return kinds.get((self._owner(function, base.id), base.id), False)
        return isinstance(base, ast.Attribute) and kinds.get("." + base.attr, False)

    def _enter(
        self,
        function: Any,
        node: ast.Call,
        given: list[Mark],
        functions: list[Any],
        *,
        method: bool = False,
        own: Mark = Mark(),  # noqa: B008
    ) -> Mark:
        """What a function of the file returns; what it is given reaches its parameters."""
        found = Mark()
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        )
        everything = functools.reduce(Mark.__or__, given, Mark())
        for called in functions:
            names = [a.arg for a in (*called.args.posonlyargs, *called.args.args)]
            if method and called in self._methods:
                names = names[1:]
            rest = [a.arg for a in (called.args.vararg, called.args.kwarg) if a is not None]
            for i, mark in enumerate(given):
                keyword = node.keywords[i - len(node.args)].arg if i >= len(node.args) else None
                positional = names[i] if keyword is None and i < len(names) else None
                name = keyword or positional
                targets = rest if starred or name is None else [name]
                for target in targets + (names if starred else []):
                    self._add((called, target), everything if starred else mark)
            self._add((called, "control"), Mark(self._control))
            found |= self._marks.get((called, "return"), Mark())
            if not all(_plainly(decorator) for decorator in called.decorator_list):
                found |= _RANDOM
        return found

    def _test(self, function: Any, node: Any) -> bool:
        """Whether a condition may be random."""
        mark = Mark() if self._is_handed_over(function, node) else self._of(function, node)
        sized = isinstance(node, ast.Name | ast.Attribute) and self._kind(self._containers, function, node)
        found = Mark(mark.size if sized else mark.any)
        self._conditions[where(node)] = (found, self._control and self._varies(function, node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._test(function, node.operand)
        return found.holds

    def _asks(self, node: Any) -> None:
        """Note a condition where all of it stands, too: Python 3.11 names that, unless it compares."""
        waiting, found = [node.test], []
        while waiting:
            part = waiting.pop()
            found.append(self._conditions[where(part)])
            waiting += part.values if isinstance(part, ast.BoolOp) else []
        self._conditions[where(node)] = (Mark(any(m.any for m, _ in found)), any(v for _, v in found))

    def _endless(self, function: Any, node: Any) -> bool:
        """Whether what is looped over has no end: a count, or a cycle through what is always as long."""
        name = _called(node) if isinstance(node, ast.Call) else ""
        base = getattr(node.func, "value", node.func) if name else None
        if not isinstance(base, ast.Name) or self._owner(function, base.id) is not None:
            return False
        if (base.id if base is not node.func else "", name) not in self._of_itertools:
            return False
        around = len(node.args) == 1 and not self._of(function, node.args[0]).size
        return name == "count" or (name == "cycle" and around) or (name == "repeat" and len(node.args) == 1)

    def _is_handed_over(self, function: Any, node: Any) -> bool:
        """Whether a condition asks if a generator was given, as in `rng or default_rng()`."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            nothing = node.comparators[-1]
            node = node.left if isinstance(nothing, ast.Constant) and nothing.value is None else None
        if not isinstance(node, ast.Name):
            return False
        owner = self._owner(function, node.id)
        return isinstance(owner, _FUNCTION) and self._filled_with(owner, node.id) == "generator"

    def _varies(self, function: Any, node: Any) -> bool:
        """Whether a condition may differ from one time to the next within a run."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                owner = self._owner(function, part.id)
                if owner is not None and self._stores.get((owner, part.id), 0) > 1:
                    return True
            elif isinstance(part, ast.Call | ast.Attribute | ast.Subscript):
                return True
        return False

    # ------------------------------------------------------------ statements

    def _function(self, function: Any) -> None:
        defaults = (*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None))
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        for name, default in zip(reversed(names), reversed(defaults), strict=False):
            self._add((function, name), self._of(self._outer[function], default))
        if isinstance(function, ast.Lambda):
            self._add((function, "return"), self._of(function, function.body))
            return
        control = self._marks.get((function, "control"), Mark()).any
        self._block(function, function.body, control, [function])

    def _block(self, function: Any, body: list[Any], control: bool, around: list[Any]) -> None:
        for node in body:
            early = id(node) in self._early(function)  # done before the function may be left
            left = any(a in self._random_exits and not (a is function and early) for a in around)
            self._statement(function, node, control or left, around)

    def _early(self, function: Any) -> set[int]:
        """Statements before the first one of a function that has a return in it."""
        if function not in self._before:
            found: set[int] = self._before.setdefault(function, set())
            for step in function.body:
                parts = [*ast.walk(step)]
                if any(isinstance(part, ast.Return) for part in parts):
                    break
                found |= {*map(id, parts)}
        return self._before[function]

    def _leave(self, places: list[Any], control: bool) -> None:
        """Functions and loops are left early; everything in them is random if that is."""
        for place in places if control else ():
            if place not in self._random_exits:
                self._random_exits.add(place)
                self._changed = True

    def _statement(self, function: Any, node: Any, control: bool, around: list[Any]) -> None:
        outer, self._control = self._control, control
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            if isinstance(node, ast.AugAssign):
                mark = self._of(function, node.value)
                if isinstance(node.target, ast.Name | ast.Attribute):
                    held = self._of(function, node.target)
                    self._operands[where(node)] = [held, mark]
                    mark = mark | held if isinstance(node.op, _SMOOTH) else (mark | held).jumping
                    if self._kind(self._containers, function, node.target):
                        mark |= Mark(size=control)
                self._assign(function, node.target, mark, control)
            else:
                for target, value in _stored(node):
                    self._assign(function, target, self._of(function, value or node.value), control)
        elif isinstance(node, ast.If | ast.While):
            random = self._test(function, node.test)
            self._asks(node)
            inner = [*around, node] if isinstance(node, ast.While) else around
            self._block(function, node.body, control or random, inner)
            self._block(function, node.orelse, control or random, around)
        elif isinstance(node, ast.For):
            mark = self._of(function, node.iter)
            varies = control and self._varies(function, node.iter) and not isinstance(node.iter, ast.Name)
            asked = (Mark(), False) if self._endless(function, node.iter) else (Mark(mark.size), varies)
            self._conditions[where(node)] = self._conditions[where(node.iter)] = asked
            self._assign(
                function, node.target, mark._replace(holds=mark.any, size=mark.any), control or mark.size
            )
            self._block(function, node.body, control or mark.size, [*around, node])
            self._block(function, node.orelse, control or mark.size, around)
        elif isinstance(node, ast.Return):
            mark = self._of(function, node.value)
            self._add((function, "return"), mark | _RANDOM if control else mark)
            self._leave(around, control)
        elif isinstance(node, ast.Break | ast.Continue):
            loops = [a for a in around if isinstance(a, ast.For | ast.While)]
            self._leave(loops[-1:], control)
        elif isinstance(node, ast.Expr):
            self._of(function, node.value)
            if isinstance(node.value, ast.Yield | ast.YieldFrom):
                self._add((function, "return"), _RANDOM)
        elif isinstance(node, ast.Try | ast.With):
            for item in getattr(node, "items", ()):
                self._of(function, item.context_expr)
                if item.optional_vars is not None:
                    self._assign(function, item.optional_vars, _RANDOM, True)
            for name in ("body", "orelse", "finalbody"):
                self._block(function, getattr(node, name, []), True, around)
            for handler in getattr(node, "handlers", []):
                self._block(function, handler.body, True, around)
        elif not isinstance(
            node, ast.FunctionDef | ast.ClassDef | ast.Pass | ast.Raise | ast.Assert | _IMPORTS
        ):
            self._add((function, "control"), Mark(True))  # not understood: nothing in it is constant
        self._control = outer

    # ------------------------------------------------------------ what names hold

    def _kinds(self) -> None:
        """What names and attributes hold only: arrays, containers, objects of the file's classes."""
        stores = (n for f in self._all for n in ast.walk(f) if isinstance(n, ast.Attribute))
        self._attributes = {n.attr for n in stores if isinstance(n.ctx, ast.Store)}
        self._attributes |= {name for node in self._classes.values() for name in _fields(node)}
        self._attributes -= self._functions.keys()
        held: dict[Any, list[Any]] = {}
        for function in self._all:
            for node, loop in _own_nodes(function):
                for target, value in _stored(node):
                    if isinstance(target, ast.Name):
                        key: Any = (self._owner(function, target.id), target.id)
                        self._stores[key] = self._stores.get(key, 0) + (2 if loop or value is None else 1)
                    elif isinstance(target, ast.Attribute):
                        key = "." + target.attr
                    else:
                        continue
                    held.setdefault(key, []).append(value)
        for key, values in held.items():
            self._arrays[key] = all(_of_numpy(v) for v in values)
            self._containers[key] = all(isinstance(v, _CONTAINERS) for v in values)
            self._objects[key] = all(self._makes_object(v) for v in values)

    def _makes_object(self, value: Any) -> bool:
        if isinstance(value, ast.ListComp | ast.DictComp):
            return self._makes_object(value.value if isinstance(value, ast.DictComp) else value.elt)
        if isinstance(value, ast.List):
            return bool(value.elts) and all(map(self._makes_object, value.elts))
        made = value.func if isinstance(value, ast.Call) else None
        return isinstance(made, ast.Name) and made.id in self._classes and not self._classes[made.id].bases


def constancy_of(
    file: str, scope: Mapping[str, Any], filled: Filled | None = None, called: bool = True
) -> Constancy | None:
    """What may be random in a file with these globals; None if it cannot be read."""
    plain = frozenset(name for name, value in scope.items() if isinstance(value, _PLAIN))
    modules = {name for name, value in scope.items() if isinstance(value, types.ModuleType)}
    steady = frozenset(modules | (vars(builtins).keys() - scope.keys()))
    known = ("numpy", "math", "scipy.special")
    numeric = frozenset(name for name in modules if scope[name].__name__ in known)
    given = frozenset(
        (code.co_name, code.co_firstlineno, name, kind)
        for code, kinds in (filled or {}).items()
        if isinstance(code, types.CodeType) and code.co_filename == file
        for name, kind in kinds.items()
    )
    try:
        with open(file, encoding="utf-8") as text:
            return _constancy_of(text.read(), plain, steady, given, called, numeric)
    except (OSError, SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=32)
def _constancy_of(
    text: str,
    plain: frozenset[str],
    steady: frozenset[str],
    filled: frozenset[tuple[str, int, str, str]],
    called: bool,
    numeric: frozenset[str],
) -> Constancy:
    tree, made = _read(text)
    return Constancy(tree, plain, steady - made, filled, called, numeric - made)


@functools.lru_cache(maxsize=64)
def _read(text: str) -> tuple[ast.Module, set[str]]:
    """The tree of a file, which stays as it is, and the names that it makes."""
    tree = parsed(text)
    return tree, names_made(ast.walk(tree))


def body_of(code: types.CodeType) -> Any:
    """The syntax tree of a function; None if it cannot be read."""
    try:
        with open(code.co_filename, encoding="utf-8") as text:
            return _functions_of(text.read()).get((code.co_name, code.co_firstlineno))
    except (OSError, SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def _functions_of(text: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line, decorators included."""
    nodes = [node for node in ast.walk(parsed(text)) if isinstance(node, ast.FunctionDef)]
    return {(n.name, min([n.lineno, *(d.lineno for d in n.decorator_list)])): n for n in nodes}


def around(file: str, positions: frozenset[Any]) -> set[Any]:
    """Where all of what the conditions at these positions decide stands (see `Constancy._asks`)."""
    with open(file, encoding="utf-8") as text:
        return {place for place, parts in _conditions_of(text.read()) if parts & positions}


@functools.lru_cache(maxsize=64)
def _conditions_of(text: str) -> list[tuple[Any, frozenset[Any]]]:
    """Where what is done on a condition stands, with where the parts of the condition do."""
    nodes = [n for n in ast.walk(_read(text)[0]) if isinstance(n, ast.If | ast.While | ast.IfExp)]
    return [(where(n), frozenset(map(where, ast.walk(n.test)))) for n in nodes]


class Handler(NamedTuple):
    """An ``except`` clause: where what it does stands, and whether that is to raise again; or `suppress`."""

    start: tuple[int, int]
    end: tuple[int, int]
    raises: bool = False
    suppresses: bool = False


def handlers_of(file: str) -> list[Handler]:
    """The clauses of a file that catch exceptions, ``suppress`` among them."""
    try:
        with open(file, encoding="utf-8") as text:
            return _handlers_of(text.read())
    except (OSError, SyntaxError, ValueError):
        return []


@functools.lru_cache(maxsize=64)
def _handlers_of(text: str) -> list[Handler]:
    found = []
    for node in ast.walk(_read(text)[0]):
        if isinstance(node, ast.ExceptHandler):
            first, last = node.body[0], node.body[-1]
            start, end = (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)
            found.append(Handler(start, end, isinstance(first, ast.Raise)))
        if isinstance(node, ast.Call) and _called(node) == "suppress":
            # What is left out then shows nowhere.
            start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
            found.append(Handler(start, end, suppresses=True))
    return found
