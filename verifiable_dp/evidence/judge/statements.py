"""What statements of users' code do, one by one; a form that is not here is unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.flow import (
    Function,
    bound,
    name_of,
    names_always_set,
    names_in,
    own_nodes,
    parameters,
    reached,
)
from verifiable_dp.evidence.judge.marks import ControlMark, Root, where
from verifiable_dp.evidence.judge.trees import walk
from verifiable_dp.evidence.judge.values import (
    NONE,
    NUMBER,
    PUBLIC,
    SMOOTH,
    STEEP,
    UNKNOWN,
    WIDE,
    Value,
    joined,
)

_OPENED = frozenset(("__init__", "__post_init__", "__call__", "__repr__", "__str__"))


class Statements(Expressions):
    """Follows statements."""

    def run(self) -> None:
        """Until nothing changes: what is called and where data are, then what draws do; then tell."""
        self.settle()
        for key, value in self.marks.items():
            own, inner = value.own - {NUMBER}, value.inner - {NUMBER}
            self.marks[key] = Value(own=own, inner=inner, data=value.data)
        self.outermost |= self.marks
        self.left.clear()
        self.fill_roles()
        self.firm = True
        self.settle()
        for node in self.ran - self.bound:
            for one in parameters(node)[self.is_method(node) :]:  # who calls it, and with what, is not seen
                self.add((node, one.arg), UNKNOWN)
        self.settle()
        self.placed = True
        self.settle()
        self.telling = True
        self.follow()

    def settle(self) -> None:
        """Until nothing changes."""
        self.changed = True
        while self.changed:
            self.changed = False
            self.follow()

    def follow(self) -> None:
        """All functions that ran or that these call."""
        self.chains.clear()
        self.decorators.clear()
        for node in (node for nodes in self.names.coded.values() for node in nodes):
            if node in self.ran or node in self.bound:  # nobody calls any other
                self.function(node)

    def function(self, node: Function) -> None:
        """Its defaults in the scope around it, and what it does."""
        self.scope, given = self.names.outer[node], node.args
        if self.is_method(node) and (first := [*given.posonlyargs, *given.args][:1]):
            kind = "class" if self.is_(node, classmethod) else "instance"
            if self.scope in self.names.kinds:
                self.names.of_object(self.names.kinds[self.scope])
            self.add((node, first[0].arg), Value(own=frozenset(((kind, self.scope),))))
        if given.vararg or given.kwarg:
            self.scope = node
            self.tell(node, outside.STATEMENT, "starred")
            self.scope = self.names.outer[node]
        name = getattr(node, "name", "")
        if isinstance(self.scope, ast.ClassDef) and name.startswith("__") and name not in _OPENED:
            self.scope = node
            self.tell(node, outside.BY_PYTHON, name)
            self.scope = self.names.outer[node]
        placed = [*given.posonlyargs, *given.args]
        pairs = [*zip(reversed(placed), reversed(given.defaults), strict=False)]
        pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
        running = self.function_of(self.scope) in self.ran | self.bound  # else they were there before
        for one, default in pairs:
            self.given_at.setdefault((node, one.arg), set()).add(where(default))
        for one, default in pairs if running else ():
            self.add((node, one.arg), self.of(default), above=self.above(default))
            self.share((node, one.arg), self.roots(default))
        control = self.marks.get((node, "control"), Value())
        called = ControlMark(control.level).under(node, control)
        if isinstance(node, ast.Lambda):
            self.scope, self.context = node, called
            self.add((node, "return of"), self.of(node.body))
            self.share((node, "return of"), self.roots(node.body))
        else:
            self.body(node, node.body, called)

    def body(self, scope: ast.AST, steps: list[ast.stmt], context: ControlMark) -> None:
        """Statements of a scope of their own."""
        before = self.scope, self.context, self.after, self.loops, self.turning, self.leaving
        self.scope, self.context, self.after, self.loops = scope, context, False, []
        self.turning, self.leaving = [], Value()
        self.block(steps)
        self.scope, self.context, self.after, self.loops, self.turning, self.leaving = before

    def block(
        self,
        steps: list[ast.stmt],
        condition: Value = Value(),  # noqa: B008
        site: ast.stmt | None = None,
        kept: Iterable[str] = (),
    ) -> None:
        """Statements that are reached on a condition at a site, where others set these names, too."""
        before, self.context = self.context, self.within(condition).under(site, condition, kept)
        for at, step in enumerate(steps):
            getattr(self, f"_do_{type(step).__name__}", self.unfollowed)(step)
            if self.leaving.tossed and at + 1 < len(steps):  # a draw may have left before the rest
                self.context = self.context.under(step, self.leaving)
        self.context = before

    def _do_Pass(self, step: ast.stmt) -> None:
        """Nothing."""

    _do_Global = _do_Nonlocal = _do_Pass

    def _do_Expr(self, step: ast.Expr) -> None:
        self.of(step.value)

    def _do_Assert(self, step: ast.Assert) -> None:
        self.ask(self.of(step.test), step.test)

    def _do_Raise(self, step: ast.Raise) -> None:
        self.of(step.exc)
        self.leaves(self.loops)

    def _do_Return(self, step: ast.Return) -> None:
        value = self.parted(self.reached(self.of(step.value), own=True))
        before = self.marks.get((self.scope, "return of"))
        if before is not None and self.control.inner:
            value = self.one_of(before, value)
        self.add((self.scope, "return of"), value)
        self.share((self.scope, "return of"), self.roots(step.value))
        parts = step.value.elts if isinstance(step.value, ast.Tuple) else []
        for at, part in enumerate(parts):
            key = self.scope, "return of", at, len(parts)
            self.add(key, self.parted(self.reached(self.of(part), own=True)))
            self.share(key, self.roots(part))
        self.leaves(self.loops)

    def parted(self, value: Value) -> Value:
        """What a function returns, where chance may say which of several."""
        return self.selected(self.scope, value, self.parting.get(self.scope, Value()))

    def leaves(self, loops: list[ast.AST]) -> None:
        """Loops, and the function, may end here as a draw says."""
        if self.control.level:
            self.after = self.after or loops is self.loops
            self.changed = self.changed or not self.left.issuperset(loops)
            self.left |= {*loops}
        inside = ControlMark(chance=tuple(one for one in self.context.chance if one.site is not self.scope))
        if inside.chance:
            left = [*loops] if loops is not self.loops else [*loops, self.scope]
            self.leaving |= inside.tossed
            for one in left:
                known = self.parting.get(one, Value())
                self.changed = self.changed or known | inside.tossed != known
                self.parting[one] = known | inside.tossed

    def _do_Break(self, step: ast.stmt) -> None:
        self.leaves(self.loops[-1:])

    _do_Continue = _do_Break

    def _do_Delete(self, step: ast.Delete) -> None:
        for target in step.targets:
            at = self.of(target.slice) if isinstance(target, ast.Subscript) else Value()
            level = max(at.level, self.control.level)
            size = STEEP if at.draws > 1 else level
            self.hold(self.roots(target), Value(level, self.reached(Value()).turn, size, draws=at.draws))

    def _do_Assign(self, step: ast.Assign) -> None:
        self.carries(step)
        for target in step.targets:
            parts, given = getattr(target, "elts", []), getattr(step.value, "elts", [])
            if returned := self.returned(step.value, len(parts)) if parts else []:
                self.of(step.value)
                for at, part in enumerate(parts):
                    keys = [(node, "return of", at, len(parts)) for node in returned]
                    self.store(part, joined(self.marks.get(key, Value()) for key in keys), {*map(Root, keys)})
                continue
            split = parts and len(parts) == len(given)
            for part, value in zip(parts, given, strict=True) if split else [(target, step.value)]:
                self.store(part, self.of(value), self.roots(value), value)
        for target in step.targets[1:]:  # all are the same thing
            for root in self.roots(step.targets[0]):
                self.share(root.key, self.roots(target))
            for root in self.roots(target):
                self.share(root.key, self.roots(step.targets[0]))

    def returned(self, node: ast.expr, parts: int) -> list[Function]:
        """The functions of a call, if all there can be return tuples of so many parts, written out."""
        own = self.of(node.func).own if isinstance(node, ast.Call) else NONE
        found = [ref for kind, ref in own if kind in ("function", "method")]
        ends = [end.value for one in found for end in own_nodes(one) if isinstance(end, ast.Return)]
        plain = not any(one in self.names.waits for one in found)
        alike = all(isinstance(end, ast.Tuple) and len(end.elts) == parts for end in ends)
        return found if len(found) == len(own) and ends and plain and alike else []

    def _do_AnnAssign(self, step: ast.AnnAssign) -> None:
        if step.value is not None:
            self.carries(step)
            self.store(step.target, self.of(step.value), self.roots(step.value), step.value)

    def _do_AugAssign(self, step: ast.AugAssign) -> None:
        telling, self.telling = self.telling, False  # what is read there is written there again
        held = self.of(step.target)
        self.telling = telling
        sides = [held, self.of(step.value)]
        self.arithmetic[self.names.home[self.scope], where(step)] = sides
        self.note_often(step, sides)
        self.carries(step)
        made, whole = self.combined(step, step.op, *sides), ast.BinOp(step.target, step.op, step.value)
        made = made._replace(turn=max(made.turn, SMOOTH), own=made.container)
        if isinstance(step.target, ast.Subscript):
            added = self.reached(made._replace(own=NONE))
            self.put(step.target, added, set(), self.slope(sides[1]), there=True, above=self.above(whole))
        else:
            self.store(step.target, made, set(), above=self.above(whole))
            self.holds(self.roots(step.target), self.roots(step.value))
            changed = self.reached(made._replace(own=NONE))._replace(rough=STEEP)  # an array, in place
            self.hold(self.behind(self.roots(step.target)), changed)

    def store(
        self,
        target: Foreign,
        value: Value,
        roots: set[Root],
        written: ast.expr | None = None,
        *,
        above: bool = False,
    ) -> None:
        """A target is given a value, which shares its entries with others; `written` is what stands there."""
        above = above or self.above(written)
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self.store(part, value._replace(own=value.inner), {root.entry() for root in roots})
            return
        own = isinstance(target, ast.Name) and self.is_own(target.id)
        if isinstance(target, ast.Name | ast.Attribute):
            self.begins(target, written)
            value = self.left_out(name_of(target), value if own else value._replace(kept=frozenset()))
        slope, new = self.slope(value), self.is_new(target)
        value = value if new else self.reached(value, own=own)
        if isinstance(target, ast.Name):
            owner = self.names.owner(self.scope, target.id)
            key = ("attribute", target.id) if isinstance(owner, ast.ClassDef) else (owner, target.id)
            self.add(key, value, above=above)
            self.share(key, roots)
            self.replaces(key, target.id)
        elif isinstance(target, ast.Attribute):
            self.named_whole(target)
            self.note(self.kept.setdefault(target.attr, set()), where(target))
            base = self.of(target.value)
            if any(kind in ("library", "module", "function") for kind, _ in base.own):
                self.tell(target, outside.SETS, target.attr)
            level = max(value.level, SMOOTH if base.level else PUBLIC)
            self.add(("attribute", target.attr), value._replace(level=level), above=above)
            self.share(("attribute", target.attr), roots)
            if not new:
                self.replaces(("attribute", target.attr), f".{target.attr}")
        elif isinstance(target, ast.Subscript):
            self.put(target, value, roots, slope, above=above)
        else:
            self.unfollowed(target)

    def is_new(self, target: ast.expr) -> bool:
        """Whether an object that is made here, always, is given an attribute: then no other object is."""
        here: Foreign = self.scope
        base = getattr(target, "value", None)
        method = isinstance(here, ast.FunctionDef) and here.name == "__init__" and self.is_method(here)
        if not (method and isinstance(base, ast.Name)) or self.names.begins_again:
            return False
        own = base.id == parameters(here)[0].arg and self.once(here, base.id)
        return own and not (self.control.inner or self.turning)

    def put(
        self,
        target: ast.Subscript,
        value: Value,
        roots: set[Root],
        slope: int,
        *,
        there: bool = False,
        above: bool = False,
    ) -> None:
        """An entry is set: at a fixed place it makes the table rough, at others as the place says."""
        _, at, whole, before = self.of(target.value), self.of(target.slice), False, self.context
        if isinstance(target.slice, ast.Slice) and not isinstance(target.value, ast.Subscript | ast.Call):
            whole = not (target.slice.lower or target.slice.upper or target.slice.step)
        fixed = not whole and self.is_fixed(target.slice, at)
        rough = STEEP if fixed else PUBLIC if at.level or not (whole or self.placed) else slope
        written = WIDE if at.level == WIDE else min(at.level, SMOOTH)  # of many places few were written in
        level, size = max(value.level, written), value.size if value.own - {NUMBER} else PUBLIC
        size = size if there else max(size, at.level, self.control.level)
        keys = self.roots(target.value)
        draws = value.draws if there else max(value.draws, at.draws)
        seldom = at.level or at.size or self.varying(outer=True)
        partly = value.noisy and seldom and any(root.key in self.begun for root in keys)
        value = value._replace(level=level, size=size, draws=draws, partial=value.partial or bool(partly))
        self.hold(keys, value._replace(rough=max(rough, value.rough)), above=above)
        self.hold(self.behind(keys) if whole else (), value._replace(rough=STEEP), above=above)
        if value.noisy and not value.raw:  # of places that no draw comes to
            self.context = self.context.under(target, at)
        for root in keys:
            self.share(root.key, {one.inside() for one in roots})
        if not there:
            self.replaces_in(target.value)
        self.context = before

    def _do_If(self, step: ast.If) -> None:
        test = self.ask(self.of(step.test), step.test, step)
        self.recurs(step, step.test)
        kept = names_always_set([step])
        self.block(step.body, test, step, kept)
        self.block(step.orelse, test, step, kept)

    def _do_Match(self, step: ast.Match) -> None:
        """As a chain of conditions: each case is reached on its own pattern and guard, and those before."""
        value, roots = self.of(step.subject), self.roots(step.subject)
        self.recurs(step, step.subject)
        test = value.whole().steep()._replace(own=NONE)
        for case in step.cases:
            for part in (one for one in walk(case.pattern) if isinstance(one, ast.pattern)):
                self.note_told(part, [value], value.size)
                self.operands[self.names.home[self.scope], where(part)] = [(0, value)]
                self.ask(test, part, step.subject, step)
                if isinstance(part, ast.MatchClass | ast.MatchMapping):  # which read attributes and keys
                    self.unfollowed(part)
            held = value._replace(own=value.own | value.inner, rough=STEEP)
            parts = {root.entry() for root in roots} | roots
            for name in (name for part in walk(case.pattern) for name in bound(part)):
                self.context, before = self.within(test).under(step, test), self.context
                self.store(ast.copy_location(ast.Name(name, ast.Store()), case.pattern), held, parts)
                self.context = before
            test |= self.ask(self.of(case.guard), case.guard) if case.guard is not None else test
            self.block(case.body, test, step)

    def recurs(self, step: ast.stmt, test: ast.expr) -> None:
        """A function that calls itself goes on as often as its conditions say."""
        if self.telling and self.steep_in(test):
            here = self.function_of(self.scope)
            if here in reached(self.calls, here):
                self.tell(step, outside.RECURSION)

    def steep_in(self, test: ast.expr) -> bool:
        """Whether a condition compares what may be special for rare draws."""
        if isinstance(test, ast.BoolOp):
            return any(map(self.steep_in, test.values))
        if isinstance(test, ast.UnaryOp):
            return self.steep_in(test.operand)
        parts = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
        return any(v.level >= STEEP and v.bare for v in map(self.of, parts))

    def _do_While(self, step: ast.While) -> None:
        test = self.ask(self.of(step.test), step.test, step)
        self.uneven |= {step} if test.level else set()
        if self.steep_in(step.test) or (test.draws > 1 and test.turn):
            self.tell(step, outside.TURNS)
        self.loop(step, test)

    def _do_For(self, step: ast.For) -> None:
        rows, parts, size = self.of(step.iter), self.parts_of(step.iter), self.turns(step.iter)
        left = SMOOTH if step in self.left else PUBLIC
        ended = Value(max(size, left), rows.turn if self.control.level else PUBLIC)
        self.ask(ended, step.iter, step)
        self.loops, self.turning = [*self.loops, step], [*self.turning, step]
        roots = {root.entry() for root in self.roots(step.iter)}
        self.store_each(step.target, rows.each, roots, parts=parts)
        for name in names_in(step.target, ast.Store):
            self.counted.setdefault(self.key(name), set()).add(step)
        self.uneven |= {step} if size else set()
        self.loops, self.turning = self.loops[:-1], self.turning[:-1]
        self.loop(step, Value(size))

    def loop(self, step: ast.For | ast.While, test: Value) -> None:
        """The body of a loop, as often as it turns."""
        left = SMOOTH if step in self.left else PUBLIC
        before, self.leaving = self.leaving, Value()
        self.loops, self.turning = [*self.loops, step], [*self.turning, step]
        self.block(step.body, test._replace(level=max(test.level, left), turn=PUBLIC), step)
        self.loops, self.turning = self.loops[:-1], self.turning[:-1]
        self.leaving = before | self.parting.get(self.scope, Value())
        parted = self.parting.get(step, Value())._replace(level=max(test.level, left))
        self.block(step.orelse, parted, step)

    def _do_FunctionDef(self, step: Foreign) -> None:
        if step.decorator_list:
            self.unfollowed(step)
        self.add(self.key(step.name), Value(own=frozenset((("function", step),))))
