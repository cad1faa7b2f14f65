"""The traced code with a few statements written in another way, which do the same and tell less.

Functions are compiled again, with the same lines, so that conditions, lists and loops that keep the best are
asked in one piece, by the functions of `selects`.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import answers, calls, reports, selects
from verifiable_dp.evidence.symbolic.branch_forcing import Turner
from verifiable_dp.evidence.symbolic.desugar_match import PREFIX, fits, parsed
from verifiable_dp.evidence.symbolic.source import called_here, is_choice, placed, unwatched, where
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.reach import Scopes

_SIDES = {ast.Gt: (1, False), ast.GtE: (1, True), ast.Lt: (-1, False), ast.LtE: (-1, True)}
_COINS = frozenset(("random", "rand", "random_sample", "uniform"))
_DRAWS = _COINS | {"choice", "integers", "randrange"}
_PLAIN = (
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.Attribute, ast.Subscript),
    *(ast.ListComp, ast.comprehension, ast.Call),
)


# ---------------------------------------------------------------- the code


def _function(names: list[str], body: ast.expr) -> ast.Lambda:
    given = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], given, None, [], [], None, []), body)


def _tuple(parts: list[Foreign]) -> ast.Tuple:
    return ast.Tuple(parts, ast.Load())


def _loaded(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


class _Disclosing(ast.NodeTransformer):
    """Discloses what expressions at some positions are made of (see `disclosed`)."""

    def __init__(self, spots: frozenset[Foreign]) -> None:
        self._spots = spots

    def visit_Subscript(self, node: ast.Subscript) -> Foreign:
        """Of a lookup, the table; see `picked`."""
        self.generic_visit(node)
        if where(node) not in self._spots or not isinstance(node.ctx, ast.Load):
            return node
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            node.value = _told(node.value)
            return node
        return ast.copy_location(called_here("picked", node.value, node.slice), node)

    def visit_Call(self, node: ast.Call) -> Foreign:
        """Of a call, its arguments, and the object of a method."""
        self.generic_visit(node)
        if where(node) in self._spots:
            for part in (*node.args, *node.keywords):
                if isinstance(part, ast.Starred | ast.keyword):
                    part.value = _told(part.value)
            node.args = [part if isinstance(part, ast.Starred) else _told(part) for part in node.args]
            if isinstance(node.func, ast.Attribute):
                node.func.value = _told(node.func.value)
        return node


def _told(node: ast.expr) -> ast.expr:
    return ast.copy_location(called_here("disclosed", node), node)


class _Rewriter(ast.NodeTransformer):
    """Writes conditions and lists so that they are asked in one piece.

    Parameters
    ----------
    tree
        Of the file.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._functions: list[ast.FunctionDef] = []
        self._usual, self._same = _is_usual(tree), _asks_for_none_only(tree)

    def visit_Subscript(self, node: ast.Subscript) -> Foreign:
        """See `selects.entry`."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Name | ast.Call):
            return ast.copy_location(called_here("entry", node.value, node.slice), node)
        return node

    def visit_Call(self, node: ast.Call) -> Foreign:
        """One truth value that `np.where` is given decides as a branch does, and is asked as one."""
        if self._usual and isinstance(node.func, ast.Name) and node.func.id == "sum" and len(node.args) == 1:
            _count_all(node.args[0])
        self.generic_visit(node)
        if is_choice(node):
            node.args[0] = _branching(node.args[0])
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Foreign:
        """See `selects.choose`."""
        names = _names(node) if self._usual else None
        if names is None:
            self.generic_visit(node)
            made = _switched(node) if self._usual else node
            return _blending(node) if made is node else made
        condition = ast.copy_location(_loaded(PREFIX + "condition"), node.test)
        rest = ast.copy_location(ast.IfExp(condition, node.body, node.orelse), node)
        made = called_here(
            "choose",
            _places(node),
            _function(names, node),
            _function(names, node.test),
            _function([PREFIX + "condition", *names], rest),
            _tuple([_loaded(name) for name in names]),
        )
        return ast.copy_location(made, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Foreign:
        """See `selects.choose`, of what is returned; and `inner`."""
        if self._usual:
            node.body = _returned(node.body)
            if self._functions and not node.decorator_list:
                node.decorator_list = [placed(_loaded(PREFIX + "inner"), node)]
        self._functions.append(node)
        self.generic_visit(node)
        self._functions.pop()
        return node

    def visit_For(self, node: ast.For) -> Foreign:
        """See `selects.mix`, of the last step of a loop."""
        if self._usual:
            node.body = _going_on(node.body)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Foreign:
        """See `selects.respond`."""
        names = _mixes(node.value) if self._usual else None
        self.generic_visit(node)
        if names is not None:
            made = called_here(
                "respond", _function(names, node.value), _tuple([_loaded(name) for name in names])
            )
            node.value = ast.copy_location(made, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Foreign:
        """See `selects.respond` and `tally`."""
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.BitXor):
            value = ast.BinOp(_loaded(node.target.id), node.op, node.value)
            made = ast.Assign([node.target], ast.copy_location(value, node.value))
            return self.visit_Assign(ast.copy_location(made, node))
        self.generic_visit(node)
        target = node.target
        if not (isinstance(target, ast.Subscript) and isinstance(node.op, ast.Add)):
            return node
        if isinstance(target.slice, ast.Name | ast.Call) and isinstance(target.value, ast.Name):
            kept = _loaded(target.value.id)
            return ast.copy_location(ast.Expr(called_here("tally", kept, target.slice, node.value)), node)
        return node

    def visit_If(self, node: ast.If) -> Foreign:
        """See `selects.race`, `choose` and `mix`."""
        made = (_chosen(node) or _chosen(node, False)) if self._usual else None
        if made is not None:
            return self.visit(made)
        for form in (_raced, _mixed) if self._same else (_mixed,):
            before = form(node)
            if before is not None:
                self.generic_visit(node)
                return before
        self.generic_visit(node)
        return node


def _blending(node: ast.IfExp) -> Foreign:
    """See `selects.blend`: two sides without effects are mixed where the condition is raw."""
    if not all(isinstance(p, _FREE) for side in (node.body, node.orelse) for p in ast.walk(side)):
        return node
    name = PREFIX + "condition"
    asked = ast.copy_location(_loaded(name), node.test)
    sides = [_function([], side) for side in (node.body, node.orelse)]
    mixed = called_here("blend", _places(node), _loaded(name), *sides)
    rest = ast.copy_location(ast.IfExp(asked, node.body, node.orelse), node)
    made = ast.IfExp(unwatched(placed(called_here("blended", _loaded(name)), node)), mixed, rest)
    made = placed(made, node)
    made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
    return placed(ast.Call(_function([name], made), [node.test], []), node)


_FREE = (
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context),
    *(ast.Subscript, ast.Attribute, ast.Tuple),
)


def _branching(test: ast.expr) -> ast.expr:
    """A condition that is a branch where it is one public truth value, and else what it is."""
    name = PREFIX + "condition"
    asked = ast.IfExp(_loaded(name), _loaded(name), _loaded(name))
    known = unwatched(placed(called_here("decides", _loaded(name)), test))
    made = placed(ast.IfExp(known, placed(asked, test), _loaded(name)), test)
    made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
    found: ast.expr = placed(ast.Call(_function([name], made), [test], []), test)
    return found


def _names(node: Foreign, test: Foreign = None) -> list[str] | None:
    """Names that an expression uses, if it has no effect but its draws and its condition is a coin."""
    test = node.test if test is None else test
    bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for part in ast.walk(node):
        if isinstance(part, ast.expr | ast.operator | ast.cmpop) and not isinstance(part, _PLAIN):
            return None
        if isinstance(part, ast.Call):
            made = part.func
            pure = isinstance(made, ast.Name) and made.id in answers.PURE
            if part.keywords or not (pure or (isinstance(made, ast.Attribute) and made.attr in _DRAWS)):
                return None
    if not any(isinstance(part, ast.Attribute) and part.attr in _COINS for part in ast.walk(test)):
        return None
    used = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [name for name in dict.fromkeys(used) if name not in bound | answers.PURE | answers.MODULES]


def _switched(node: ast.IfExp) -> ast.expr:
    """One of two expressions without effects, as a name tells: see `switch`."""
    sides, turns = [node.body, node.orelse], False
    test: Foreign = node.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, turns = test.operand, True
    plain = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)
    looked = (*plain, ast.Compare, ast.cmpop)
    if not isinstance(test, ast.Name | ast.Compare) or not all(isinstance(p, looked) for p in ast.walk(test)):
        return node
    if not all(isinstance(part, plain) for side in sides for part in ast.walk(side)):
        return node
    sides = sides[::-1] if turns else sides
    condition = ast.copy_location(_loaded(PREFIX + "condition"), node.test)
    rest = _function([PREFIX + "condition"], _blending(ast.copy_location(ast.IfExp(condition, *sides), node)))
    one, other = (_function([], _opposite(side)) for side in sides)
    return ast.copy_location(called_here("switch", test, one, other, rest), node)


def _opposite(side: ast.expr) -> ast.expr:
    """`not x` as a call that may stay raw."""
    if isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Not):
        return ast.copy_location(called_here("opposite", side.operand), side)
    return side


def _mixes(value: ast.expr) -> list[str] | None:
    """Names that an expression uses, if it computes something of them and of a coin in it."""
    inside = [part for part in ast.walk(value) if part is not value]
    coins = [part for part in inside if isinstance(part, ast.Compare)]
    mixed = isinstance(value, ast.BinOp | ast.Compare | ast.Call)
    called = isinstance(value, ast.Call) and all(part in value.args for part in coins)
    return _names(value, coins[0]) if mixed and len(coins) == 1 and not called else None


def _chosen(node: ast.If, drawn: bool = True) -> ast.stmt | None:
    """A condition under which one name is set to one of two numbers, as an expression.

    Without a coin that is `drawn` in it only where it changes what the name holds.
    """
    body, other = node.body, node.orelse
    first, second = body[0], other[0] if other else None
    second = _chosen(second) if isinstance(second, ast.If) and len(other) == 1 else second
    several = len(body) != 1 or len(other) > 1 or (second is None and bool(other))
    if several or not isinstance(first, ast.Assign | ast.AugAssign):
        return None
    if isinstance(first, ast.Assign):
        target = first.targets[0]
        if len(first.targets) != 1 or not isinstance(target, ast.Name):
            return None
        left: Foreign = ast.copy_location(_loaded(target.id), target)
    else:
        target, left = first.target, None
    if second is not None:
        both = type(second) is type(first) and ast.dump(_shell(first)) == ast.dump(_shell(second))
        left = second.value if both and isinstance(second, ast.Assign | ast.AugAssign) else None
    if left is None:
        return None
    value = ast.copy_location(ast.IfExp(node.test, first.value, left), node)
    used = {part.id for part in ast.walk(first.value) if isinstance(part, ast.Name)}
    changes = isinstance(target, ast.Name) and target.id in used and not other
    if _names(value) is None and (drawn or not changes or _switched(value) is value):
        return None
    made: Foreign = ast.Assign([target], value) if isinstance(first, ast.Assign) else None
    if isinstance(first, ast.AugAssign):
        made = ast.AugAssign(first.target, first.op, value)
    placed: ast.stmt = ast.copy_location(made, node)
    return placed


def _returned(body: list[ast.stmt]) -> list[ast.stmt]:
    """The end of a function with `if coin: return a` and `return b` as `return a if coin else b`."""
    node, last = body[-2:] if len(body) > 1 else (body[0], body[0])
    if not isinstance(node, ast.If) or not isinstance(last, ast.Return):
        return body
    first = node.body[0]
    if node.orelse or not isinstance(first, ast.Return) or first.value is None or last.value is None:
        return body
    value = ast.copy_location(ast.IfExp(node.test, first.value, last.value), node)
    return body if _names(value) is None else [*body[:-2], ast.copy_location(ast.Return(value), node)]


_OPPOSITE: dict[type, type] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}


def _going_on(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a loop with `if a < b: continue` and `s += r` at its end as `if a >= b: s += r`."""
    node, last = body[-2:] if len(body) > 1 else (body[0], body[0])
    if not isinstance(node, ast.If) or node.orelse or not isinstance(last, ast.AugAssign):
        return body
    test: Foreign = node.test
    if not isinstance(node.body[0], ast.Continue) or _names(test, test) is None:
        return body
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return body
    opposite = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    kept = ast.If(ast.copy_location(opposite, test), [last], [])
    return [*body[:-2], ast.copy_location(kept, node)]


def _count_all(node: Foreign) -> None:
    """Write `sum(x for x in v if c)` as `sum(x if c else 0 for x in v)`, where the condition is a coin."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp) or len(node.generators[-1].ifs) != 1:
        return
    (test,) = node.generators[-1].ifs
    if isinstance(test, ast.Name) or _names(test, test) is not None:
        node.generators[-1].ifs = []
        nothing = ast.copy_location(ast.Constant(0), node.elt)
        node.elt = ast.copy_location(ast.IfExp(test, node.elt, nothing), node.elt)


def _shell(node: Foreign) -> Foreign:
    """An assignment without its value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target, node.op]
    return _tuple(targets)


def _raced(node: ast.If) -> list[ast.stmt] | None:
    """Names that are set if one number is better than another, which is among them."""
    if node.orelse:
        return None
    test: Foreign = node.test
    nothing = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and len(test.values) == 2
    first: Foreign = test.values[0] if nothing else None
    compared = isinstance(first, ast.Compare) and len(first.ops) == 1 and isinstance(first.ops[0], ast.Is)
    if compared and _is_none(first.comparators[0]):
        test = test.values[1]
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _SIDES:
        return None
    pairs: list[tuple[Foreign, Foreign]] = []
    for step in node.body:
        if not isinstance(step, ast.Assign) or len(step.targets) != 1:
            return None
        target: Foreign = step.targets[0]
        value: Foreign = step.value
        several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs += zip(target.elts, value.elts, strict=False) if several else [(target, value)]
    simple = all(isinstance(t, ast.Name) and isinstance(v, ast.Name | ast.Constant) for t, v in pairs)
    sides: list[Foreign] = [test.left, test.comparators[0]]
    if not simple or not all(isinstance(side, ast.Name) for side in sides):
        return None
    sign, latest = _SIDES[type(test.ops[0])]
    names = [(t.id, getattr(v, "id", None)) for t, v in pairs]
    first, second = (side.id for side in sides)
    tries = ((first, second, sign), (second, first, -sign))
    fits = [found for found in tries if (found[1], found[0]) in names]
    if not fits or {t for t, _ in names} & {v for _, v in names}:
        return None
    value, best, way = fits[0]
    kept = PREFIX + "kept"
    new = [ast.Constant(...) if getattr(v, "id", None) == value else v for _, v in pairs]
    old = [_loaded(t.id) if getattr(v, "id", None) != value else ast.Constant(None) for t, v in pairs]
    kind = _tuple([ast.Constant(way), ast.Constant(latest)])
    made = called_here("race", kind, _loaded(value), _loaded(best), _tuple(new), _tuple(old))
    taken = ast.Assign(
        [ast.Tuple([ast.Name(t.id, ast.Store()) for t, _ in pairs], ast.Store())], _loaded(kept)
    )
    return _before(node, kept, made, [taken])


def _mixed(node: ast.If) -> list[ast.stmt] | None:
    """Numbers that are added or taken off where a condition holds, and others where it does not."""
    steps: list[Foreign] = [*node.body, *node.orelse]
    if not all(isinstance(step, ast.AugAssign) and isinstance(step.op, ast.Add | ast.Sub) for step in steps):
        return None
    parts = [part for step in steps for part in ast.walk(step.value)]
    if any(
        isinstance(part, _NOT_TWICE) and not _is_length(part) for step in steps for part in ast.walk(step)
    ):
        return None  # it would be done twice
    used = {part.id for part in parts if isinstance(part, ast.Name)}
    changed = {n.id for step in steps for n in ast.walk(step.target) if isinstance(n, ast.Name)}
    if len(steps) > 1 and used & {*changed, "self"}:
        return None
    condition, kept = PREFIX + "condition", PREFIX + "kept"
    first = ast.Assign([ast.Name(condition, ast.Store())], node.test)
    values = [_function([], step.value) for step in steps]
    sides = _tuple(values[: len(node.body)]), _tuple(values[len(node.body) :])
    entries = [step.target for step in steps if isinstance(step.target, ast.Subscript)]
    spots = [_function([], _tuple([e.value, e.slice])) for e in entries]
    made = called_here("mix", _places(node), _loaded(condition), *sides, _tuple(spots))
    taken: list[ast.stmt] = [
        ast.AugAssign(step.target, step.op, ast.Subscript(_loaded(kept), ast.Constant(n), ast.Load()))
        for n, step in enumerate(steps)
    ]
    node.test = ast.copy_location(_loaded(condition), node.test)
    return [placed(first, node), *_before(node, kept, made, taken)]


def _places(node: Foreign) -> ast.Constant:
    """Where a condition stands, and all of what it decides."""
    return ast.Constant((where(node), where(node.test)))  # type: ignore[arg-type]


_NOT_TWICE = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def _is_length(node: Foreign) -> bool:
    """Whether it asks how long something is, which can be done twice."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"


def _before(node: Foreign, kept: str, made: ast.expr, taken: list[ast.stmt]) -> list[ast.stmt]:
    """Ask first; the condition of the code stands where there is no answer."""
    known = ast.Compare(_loaded(kept), [ast.IsNot()], [ast.Constant(None)])
    ask = placed(ast.Assign([ast.Name(kept, ast.Store())], made), node)
    done = [placed(step, node) for step in taken]
    branch = ast.copy_location(ast.If(unwatched(placed(known, node)), done, [node]), node)
    return [ask, branch]


def _asks_for_none_only(tree: ast.AST) -> bool:
    """Whether nothing but None is compared by identity, which what stands for a number does not have."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    asked = [
        side for n in nodes for op, side in zip(n.ops, n.comparators, strict=True) if isinstance(op, _IS)
    ]
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return "id" not in called and all(isinstance(side, ast.Constant) and side.value is None for side in asked)


_IS = (ast.Is, ast.IsNot)


class _Asking(ast.NodeTransformer):
    """Compares by identity, and calls, in a way that is asked first (`calls`).

    Only None is compared as before, which is no number; what is compared in a chain is left to `unasked`.
    """

    def visit_Compare(self, node: ast.Compare) -> Foreign:
        """See `calls.identical`."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], _IS) or _is_none(node.comparators[0]):
            return node
        made: ast.expr = called_here("identical", node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.IsNot):
            made = ast.UnaryOp(ast.Not(), ast.copy_location(made, node))
        return ast.copy_location(made, node)

    def visit_Call(self, node: ast.Call) -> Foreign:
        """See `calls.asked`."""
        self.generic_visit(node)
        name = node.func.func if isinstance(node.func, ast.Call) else node.func  # a node may have two parents
        if not (isinstance(name, ast.Name) and name.id.startswith(PREFIX)):
            node.func = ast.copy_location(called_here("asked", node.func), node.func)
        return node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@functools.lru_cache(maxsize=1 << 12)
def unasked(code: types.CodeType) -> frozenset[int]:
    """Instructions that compare by identity, but with None, or call what was not asked for."""
    found: set[int] = set()
    before: Foreign = None
    if code.co_filename == "<string>" and code.co_qualname.startswith("__create_fn__.<locals>."):
        return frozenset()  # what a dataclass is given
    barred = {"IS_OP"} if code in _REWRITTEN else {"IS_OP", "CALL", "CALL_FUNCTION_EX", "CALL_KW"}
    for step in dis.get_instructions(code):
        none = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if step.opname in barred and not (step.opname == "IS_OP" and none):
            found.add(step.offset)
        before = step if step.opname not in _SKIPPED else before
    return frozenset(found)


_REWRITTEN: set[types.CodeType] = set()
_SKIPPED = ("CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "KW_NAMES")


def _is_usual(tree: ast.AST) -> bool:
    """Whether a file gives no other meaning to names of builtins and of what draws."""
    made = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    made |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    made |= {n.asname or n.name for n in ast.walk(tree) if isinstance(n, ast.alias) and n.name not in _DRAWS}
    return not made & (_DRAWS | answers.PURE)


@functools.lru_cache(maxsize=256)
def _compiled(
    file: str, text: str, sites: tuple[Foreign, ...], spots: frozenset[Foreign], local: bool, asserts: bool
) -> dict[types.CodeType, types.CodeType]:
    """Code of the functions of a file that are written in another way, by the code that they had.

    Conditions at `sites` can be turned about, and what expressions at `spots` are made of is disclosed; in
    the `local` model, so is what is noisy (`reports`). Without `asserts` it is code of ``python -OO``.
    """
    tree = parsed(text)
    before = _by_place(compile(text, file, "exec", dont_inherit=True))
    tree = _Disclosing(spots).visit(tree) if spots else tree
    tree = Turner(dict(sites)).visit(tree) if sites else tree
    tree = ast.fix_missing_locations(_Rewriter(tree).visit(tree))
    tree = ast.fix_missing_locations(_Asking().visit(tree))
    tree = ast.fix_missing_locations(reports.Reporting().visit(tree)) if local else tree
    made = compile(tree, file, "exec", dont_inherit=True, optimize=-1 if asserts else 2)
    _REWRITTEN.update(_codes(made))
    found = _by_place(made)
    return {
        code: other
        for key, code in before.items()
        if (other := found.get(key)) is not None and code.co_freevars == other.co_freevars and code != other
    }


def _by_place(code: types.CodeType) -> dict[tuple[str, int, int, int], types.CodeType]:
    """Code of functions by name, first line, and which one it is of those that are alike in both.

    Where there are several, those that the rewriting has made might be among them: then none is known.
    """
    found: dict[tuple[str, int], list[types.CodeType]] = {}
    for part in _codes(code):
        found.setdefault((part.co_qualname, part.co_firstlineno), []).append(part)
    return {(*key, n, len(parts)): part for key, parts in found.items() for n, part in enumerate(parts)}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield part
            yield from _codes(part)


@contextmanager
def rewritten(scopes: Scopes, world: World) -> Iterator[None]:
    """Compile functions again for a while."""
    asked = (
        *(selects.race, selects.choose, selects.respond, selects.switch, selects.opposite, selects.mix),
        *(selects.blend, selects.entry, selects.tally, selects.turned, selects.inner),
    )
    helpers: dict[str, Foreign] = {PREFIX + f.__name__: functools.partial(f, world) for f in asked}
    others = (calls.identical, calls.asked, selects.disclosed, selects.picked, reports.reported)
    helpers |= {PREFIX + f.__name__: functools.partial(f, world) for f in others}
    helpers |= {PREFIX + f.__name__: f for f in (selects.blended, selects.decides, fits)}
    changed: list[tuple[Foreign, types.CodeType]] = []
    codes: dict[str, Mapping[types.CodeType, types.CodeType]] = {}
    try:
        for file, scope in scopes.items():
            sites = world.flips.of(file) if world.flips is not None else ()
            spots = frozenset(at for of, at in world.disclosed if of == file)
            with suppress(SyntaxError, ValueError):
                text = "".join(linecache.getlines(file))
                codes[file] = _compiled(file, text, sites, spots, world.local, world.asserts)
            scope.update(helpers)
        for function in scopes.functions:
            other = codes.get(function.__code__.co_filename, {}).get(function.__code__)
            if other is not None:
                changed.append((function, function.__code__))
                function.__code__ = other
        yield
    finally:
        for function, code in reversed(changed):
            function.__code__ = code
        for scope in scopes.values():
            for name in helpers:
                scope.pop(name, None)
